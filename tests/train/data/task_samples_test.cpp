// What is trained on of each kind of labelled file: tokens, classes, spans, tags, mentions.
#include "train/data/task_samples.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "deberta/error.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::train::task_samples_test {
namespace {

class TaskSamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(test::fixture("tokenizer/bytes.model"), folder_.path("spm.model"));
    tokenizer_.emplace(Tokenizer::load(folder_.path()));
  }

  TaskSamples read(const std::string& task, const std::string& name, const std::string& text,
                   TaskReading reading = {}) {
    test::write_text(folder_.path(name), text);
    reading.input.files = {folder_.path(name)};
    return *read_task_samples(find_task(task), reading, *tokenizer_);
  }

  // Pieces first to last of a sequence, as they are spelled.
  std::string pieces(const TaskSequence& sequence, size_t first, size_t last) const {
    std::string text;
    for (size_t t = first; t <= last; ++t) text += std::string(tokenizer_->piece(sequence.ids[t]));
    return text;
  }

  test::TemporaryFolder folder_;
  std::optional<Tokenizer> tokenizer_;
};

TEST_F(TaskSamplesTest, ClassesHaveTheNumbersOfTheTable) {
  const TaskSamples samples =
      read("mnli", "train.tsv", "sentence1\tsentence2\tgold_label\na\tb\tentailment\nc\td\tcontradiction\ne\tf\t-\n");
  EXPECT_EQ(samples.loss, TaskLoss::kClass);
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"contradiction", "neutral", "entailment"}));
  ASSERT_EQ(samples.samples.size(), 2u);
  EXPECT_EQ(samples.samples[0].label, 2);
  EXPECT_EQ(samples.samples[1].label, 0);
  EXPECT_EQ(samples.examples, 3u);
  EXPECT_EQ(samples.unlabelled, 1u);
}

TEST_F(TaskSamplesTest, APairIsOneSequenceAndTheFirstTextStaysFirst) {
  const std::string longer = "it rained and rained and rained and rained", shorter = "wet";
  for (const auto& [first, second] : {std::pair{longer, shorter}, std::pair{shorter, longer}}) {
    TaskReading reading;
    reading.max_tokens = 10;
    const TaskSamples samples = read(
        "rte", "train.jsonl",
        "{\"premise\": \"" + first + "\", \"hypothesis\": \"" + second + "\", \"label\": \"entailment\"}\n", reading);
    const TaskSequence& sequence = samples.samples[0].sequences[0];
    EXPECT_EQ(sequence.ids.size(), 10u);
    EXPECT_EQ(samples.cut, 1u);
    const auto second_text = static_cast<size_t>(sequence.second);
    ASSERT_LT(second_text, sequence.ids.size());
    const Encoding first_encoding = tokenizer_->encode(first), second_encoding = tokenizer_->encode(second);
    EXPECT_EQ(sequence.ids[1], first_encoding.ids[1]);
    EXPECT_EQ(sequence.ids[second_text], second_encoding.ids[1]);
  }
}

TEST_F(TaskSamplesTest, ClassesOfAFileAreSorted) {
  const auto labels_of = [&](const std::string& name, const std::string& rows) {
    return read("classification", name, "text,label\r\n" + rows).labels;
  };
  EXPECT_EQ(labels_of("a.csv", "x,pear\r\ny,apple\r\nz,fig\r\n"), (std::vector<std::string>{"apple", "fig", "pear"}));
  EXPECT_EQ(labels_of("b.csv", "x,10\r\ny,9\r\nz,1\r\n"), (std::vector<std::string>{"1", "9", "10"}));
}

TEST_F(TaskSamplesTest, ReorderedClassesKeepTheirMeaning) {
  TaskSamples samples =
      read("rte", "train.tsv", "sentence1\tsentence2\tlabel\na\tb\tentailment\nc\td\tnot_entailment\n");
  reorder_labels(find_task("rte"), {"ENTAILMENT", "Not-Entailment"}, samples);
  EXPECT_EQ(samples.samples[0].label, 0);
  EXPECT_EQ(samples.samples[1].label, 1);
  EXPECT_ERROR((reorder_labels(find_task("rte"), {"positive", "negative"}, samples)), kTask, "labels");
}

TEST_F(TaskSamplesTest, PlacesOfLabelsAreThoseOfTheSamplesAsTheyStand) {
  const TaskRow& task = find_task("mnli");
  TaskSamples samples = read(
      "mnli", "train.tsv", "sentence1\tsentence2\tgold_label\na\tb\tentailment\nc\td\tcontradiction\ne\tf\tneutral\n");
  reorder_labels(task, {"neutral", "contradiction", "entailment"}, samples);
  EXPECT_EQ(places_of_labels(task, {"entailment", "neutral", "contradiction"}, samples),
            (std::vector<int32_t>{1, 2, 0}));
  EXPECT_EQ(places_of_labels(task, samples.labels, samples), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_ERROR((places_of_labels(task, {"entailment", "neutral", "other"}, samples)), kTask, "labels");
}

TEST_F(TaskSamplesTest, SeveralClassesAreZerosAndOnes) {
  const TaskSamples samples = read("multi-label", "train.jsonl",
                                   "{\"text\": \"a\", \"labels\": [\"c\", \"b\"]}\n{\"text\": \"b\", \"labels\": []}\n"
                                   "{\"text\": \"c\", \"labels\": [\"a\"]}\n");
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(samples.samples[0].values, (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(samples.samples.back().values, (std::vector<float>{1, 0, 0}));
}

TEST_F(TaskSamplesTest, SeveralScoresAreInTheOrderOfTheirFields) {
  TaskReading reading;
  reading.input.label_fields = {"style", "grammar"};
  const TaskSamples samples = read("regression", "train.csv", "text,grammar,style\na,1,2\nb,,\nc,-3,.5\n", reading);
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"style", "grammar"}));
  ASSERT_EQ(samples.samples.size(), 2u);
  EXPECT_EQ(samples.samples[1].values, (std::vector<float>{.5f, -3}));
  EXPECT_EQ(samples.unlabelled, 1u) << "without any score";
  EXPECT_ERROR(read("regression", "train.csv", "text,grammar,style\na,1,\n", reading), kInput,
               "train.csv:2: style: expected a number, since grammar has one, got none");
}

TEST_F(TaskSamplesTest, SharesOfClassesStandInTheOrderOfTheClasses) {
  const TaskSamples objects = read("classification", "train.jsonl",
                                   "{\"text\": \"a\", \"label\": {\"pos\": 0.75, \"neg\": 0.25}}\n"
                                   "{\"text\": \"b\", \"label\": \"pos\"}\n"
                                   "{\"text\": \"c\", \"label\": {\"even\": 1}}\n");
  EXPECT_EQ(objects.labels, (std::vector<std::string>{"even", "neg", "pos"}));
  EXPECT_EQ(objects.samples[0].values, (std::vector<float>{0, .25f, .75f}));
  EXPECT_EQ(objects.samples[1].values, (std::vector<float>{0, 0, 1})) << "one class is a share of 1";
  EXPECT_EQ(objects.samples[2].values, (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(objects.samples[0].label, 2);
  TaskReading reading;
  reading.input.label_fields = {"pos", "neg"};
  const TaskSamples columns = read("classification", "train.tsv", "text\tneg\tpos\na\t.75\t.2505\n", reading);
  EXPECT_EQ(columns.labels, (std::vector<std::string>{"neg", "pos"}));
  EXPECT_FLOAT_EQ(columns.samples[0].values[1], .2505f / 1.0005f) << "they sum to 1";
}

TEST_F(TaskSamplesTest, RowsWeighWhatTheirFieldSays) {
  TaskReading reading;
  reading.input.weight_field = "w";
  const std::string rows = "text,label,w\na,x,2\nb,y,0\nc,y, .5\n";
  const TaskSamples samples = read("classification", "train.csv", rows, reading);
  EXPECT_TRUE(samples.has_weights);
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"x", "y"}));
  ASSERT_EQ(samples.samples.size(), 2u);
  EXPECT_EQ(samples.weightless, 1u);
  EXPECT_EQ(samples.samples[0].weight, 2);
  EXPECT_EQ(samples.samples[1].weight, .5f);
  EXPECT_ERROR(read("classification", "train.csv", rows + "d,x,\n", reading), kInput,
               "train.csv:5: w: expected a weight of the row, 0 or from 1e-6 to 1e6, got none");
  EXPECT_ERROR(read("classification", "train.csv", rows + "d,x,-1\n", reading), kInput, "to 1e6, got -1");
  EXPECT_ERROR(read("classification", "train.csv", "text,label,w\na,x,0\nb,y,0\n", reading), kInput,
               "expected examples of a weight above 0, got 2 of weight 0");
}

TEST_F(TaskSamplesTest, AChoiceIsASampleOfSequencesOrOneForEachChoice) {
  const std::string race =
      R"({"article": "It rained .", "id": "1", "questions": ["How was it ?"], "options": [["wet", "dry", "hot", "cold"]], "answers": ["C"]})";
  const TaskSamples choices = read("race", "train.jsonl", race + "\n");
  ASSERT_EQ(choices.samples.size(), 1u);
  EXPECT_EQ(choices.samples[0].sequences.size(), 4u);
  EXPECT_EQ(choices.samples[0].label, 2);
  const TaskSamples pairs = read(
      "copa", "copa.jsonl",
      R"({"premise": "It rained .", "choice1": "Wet .", "choice2": "Dry .", "question": "effect", "label": 1, "idx": 0})"
      "\n");
  ASSERT_EQ(pairs.samples.size(), 2u);
  EXPECT_EQ(pairs.samples[0].label, 0);
  EXPECT_EQ(pairs.samples[1].label, 1);
}

TEST_F(TaskSamplesTest, ASpanIsThePiecesOfTheAnswerWhereTheWindowHoldsThemAll) {
  std::string context;
  for (int i = 0; i < 40; ++i) context += "it rained all day . ";
  context += "the grey cat sat down .";
  const std::string file = R"({"version": "1.1", "data": [{"title": "T", "paragraphs": [{"context": ")" + context +
                           R"(", "qas": [{"id": "a", "question": "Who sat ?", "answers": [{"text": "grey cat ", )" +
                           R"("answer_start": )" + std::to_string(context.find("grey")) + "}]}]}]}]}";
  TaskReading reading;
  reading.max_tokens = 160;
  const TaskSamples samples = read("squad", "train.json", file, reading);
  ASSERT_GT(samples.samples.size(), 1u);
  EXPECT_EQ(samples.samples.front().first, 0);
  EXPECT_EQ(samples.samples.front().last, 0);
  const TaskSample& last = samples.samples.back();
  EXPECT_EQ(pieces(last.sequences[0], static_cast<size_t>(last.first), static_cast<size_t>(last.last)),
            "grey\xE2\x96\x81"
            "cat");
  EXPECT_GE(samples.unanswered, 1u);
}

TEST_F(TaskSamplesTest, TheFirstPieceOfAWordLearnsItsLabel) {
  const std::string file = "-DOCSTART- -X- O O\n\nunbelievable JJ O O\nRome NNP O B-LOC\n\nAnn NNP O B-PER\n";
  const TaskSamples samples = read("ner", "train.txt", file);
  ASSERT_EQ(samples.samples.size(), 2u);
  EXPECT_EQ(samples.labels.front(), "O");
  const Encoding text = tokenizer_->encode("unbelievable Rome");
  const auto rome = std::find(text.words.begin(), text.words.end(), 1) - text.words.begin();
  const auto location = std::find(samples.labels.begin(), samples.labels.end(), "B-LOC") - samples.labels.begin();
  EXPECT_EQ(samples.samples[0].tags,
            (std::vector<std::pair<int32_t, int32_t>>{{1, 0}, {static_cast<int32_t>(rome), location}}));
  TaskReading merged;
  merged.merges_sentences = true;
  EXPECT_EQ(read("ner", "train.txt", file, merged).samples.size(), 1u);
  const TaskSamples own = read("ner", "own.txt", "Ann B-HERO\nran O\n");
  EXPECT_EQ(own.labels, (std::vector<std::string>{"O", "B-HERO"}));
}

TEST_F(TaskSamplesTest, EveryWordOfALongTextIsLearnedInOneWindow) {
  std::string file;
  for (int i = 0; i < 60; ++i) file += "word" + std::to_string(i) + (i % 7 == 0 ? " B-LOC\n" : " O\n");
  TaskReading reading;
  reading.max_tokens = 40;
  reading.stride = 10;
  const TaskSamples cut = read("ner", "train.txt", file, reading);
  ASSERT_EQ(cut.samples.size(), 1u);
  EXPECT_EQ(cut.cut, 1u);
  EXPECT_LT(cut.samples[0].tags.size(), 20u);
  reading.reads_windows = true;
  const TaskSamples samples = read("ner", "train.txt", file, reading);
  EXPECT_EQ(samples.cut, 0u);
  EXPECT_EQ(samples.in_windows, 1u);
  EXPECT_GT(samples.samples.size(), 3u);
  size_t word = 0;
  for (const TaskSample& sample : samples.samples) {
    EXPECT_LE(sample.sequences[0].ids.size(), 40u);
    ASSERT_FALSE(sample.tags.empty());
    // Where it is farther from a cut.
    EXPECT_TRUE(&sample == &samples.samples.front() || sample.tags.front().first > 4);
    EXPECT_TRUE(&sample == &samples.samples.back() || sample.tags.back().first < 36);
    for (const auto& [token, label] : sample.tags) {
      const Encoding expected = tokenizer_->encode("word" + std::to_string(word), {.add_special_tokens = false});
      for (size_t i = 0; i < expected.size() && static_cast<size_t>(token) + i + 1 < sample.sequences[0].ids.size();
           ++i)
        EXPECT_EQ(sample.sequences[0].ids[static_cast<size_t>(token) + i], expected.ids[i]) << word;
      EXPECT_EQ(samples.labels[static_cast<size_t>(label)], word % 7 == 0 ? "B-LOC" : "O") << word;
      ++word;
    }
  }
  EXPECT_EQ(word, 60u);
}

TEST_F(TaskSamplesTest, EachWindowOfALongTextHasItsLabel) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "rain ";
  TaskReading reading;
  reading.max_tokens = 24;
  reading.stride = 4;
  reading.reads_windows = true;
  const TaskSamples samples = read("classification", "train.csv", "text,label\n" + text + ",wet\nsun,dry\n", reading);
  EXPECT_EQ(samples.in_windows, 1u);
  EXPECT_EQ(samples.examples, 2u);
  ASSERT_GT(samples.samples.size(), 3u);
  for (size_t i = 0; i + 1 < samples.samples.size(); ++i) {
    EXPECT_EQ(samples.samples[i].label, 1);
    EXPECT_LE(samples.samples[i].sequences[0].ids.size(), 24u);
  }
  EXPECT_EQ(samples.samples.back().label, 0);
  reading.reads_windows = false;
  EXPECT_EQ(read("classification", "cut.csv", "text,label\n" + text + ",wet\nsun,dry\n", reading).samples.size(), 2u);
}

TEST_F(TaskSamplesTest, AMentionIsRightWhereItsTextIsAnAnswer) {
  const std::string row =
      R"({"idx": 0, "passage": {"text": "Ann saw Bo .", "entities": [{"start": 0, "end": 2}, {"start": 8, "end": 9}]}, )"
      R"("qas": [{"idx": 0, "query": "@placeholder looked", "answers": [{"start": 8, "end": 9, "text": "Bo"}]}]})";
  const TaskSamples samples = read("record", "train.jsonl", row + "\n");
  EXPECT_EQ(samples.loss, TaskLoss::kMention);
  ASSERT_EQ(samples.samples[0].mentions.size(), 2u);
  EXPECT_FALSE(samples.samples[0].mentions[0].is_right);
  EXPECT_TRUE(samples.samples[0].mentions[1].is_right);
}

TEST_F(TaskSamplesTest, BadRowsAndOtherLabelsAreRefused) {
  EXPECT_ERROR(read("rte", "a.tsv", "sentence1\tsentence2\tlabel\na\tb\tmaybe\n"), kTask, "maybe");
  EXPECT_ERROR(read("rte", "b.tsv", "sentence1\tsentence2\tlabel\n"), kInput, "expected labelled examples, got none");
  EXPECT_ERROR(read("classification", "c.csv", "text,category\na,b\n"), kInput,
               "expected labelled examples, got 1 without a label");
  EXPECT_ERROR(read("mlm", "c.txt", "a\n"), kUsage, "expected a task with labels");
}

}  // namespace
}  // namespace deberta::train::task_samples_test
