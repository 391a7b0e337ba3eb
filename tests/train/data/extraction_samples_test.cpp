// Texts with entities as samples, and the labels that a step puts before them.
#include "train/data/extraction_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "pipeline/labelled_text.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "train/data/data_notes.h"
#include "train/data/task_batches.h"

namespace deberta::train::extraction_samples_test {
namespace {

using Labels = std::vector<int32_t>;
using Notes = std::vector<std::string>;

constexpr const char* kAda =
    R"({"text": "Ada King met state-of-the-art in Rome", "entities": [{"start": 0, "end": 8, "label": "person"},
 {"start": 33, "end": 37, "label": "city"}]})";

std::string one_line(std::string text) {
  std::erase(text, '\n');
  return text + "\n";
}

class ExtractionSamples : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(test::fixture("tokenizer/bytes.model"), folder_.path("spm.model"));
    tokenizer_.emplace(
        Tokenizer::load(folder_.path(), TokenizerKind::kFast, std::vector<std::string>{"<<ENT>>", "<<SEP>>"}));
    reading_.reads_windows = true;
  }
  TaskSamples read(const std::string& text, const ReadingHooks& hooks = {}) {
    test::write_text(folder_.path("train.jsonl"), text);
    reading_.input.files = {folder_.path("train.jsonl")};
    return *read_task_samples(find_task("extract"), reading_, *tokenizer_, hooks);
  }
  // Rows with one entity each, of `count` labels.
  TaskSamples many(size_t count) {
    std::string text;
    for (size_t n = 0; n < count; ++n)
      text += R"({"text": "Ada", "entities": [{"start": 0, "end": 3, "label": "label )" + std::to_string(n) + "\"}]}\n";
    return read(text);
  }

  test::TemporaryFolder folder_;
  std::optional<Tokenizer> tokenizer_;
  TaskReading reading_;
};

TEST_F(ExtractionSamples, ATextIsItsWordsWithEntitiesByWords) {
  const TaskSamples samples = read(one_line(kAda));
  EXPECT_EQ(samples.loss, TaskLoss::kExtraction);
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"city", "person"}));
  ASSERT_EQ(samples.samples.size(), 1u);
  const TaskSample& sample = samples.samples[0];
  EXPECT_EQ(sample.word_starts.size(), 6u + 1) << "a word has hyphens";
  ASSERT_EQ(sample.entities.size(), 2u);
  EXPECT_EQ(sample.entities[0].first, 0);
  EXPECT_EQ(sample.entities[0].last, 1);
  EXPECT_EQ(samples.labels[static_cast<size_t>(sample.entities[0].label)], "person");
  EXPECT_EQ(sample.entities[1].first, 5);
  EXPECT_EQ(sample.entities[1].last, 5);
}

// What is trained on is what extract() would give the model.
TEST_F(ExtractionSamples, TheSequenceIsThatOfAnAnswer) {
  const TaskSamples samples = read(one_line(kAda));
  const TaskSample learned = with_labels(samples, 0, Labels{1, 0});
  const PromptMarks marks{tokenizer_->special().cls, {*tokenizer_->id_of("<<ENT>>"), *tokenizer_->id_of("<<SEP>>")}};
  LabelPrompt prompt = begin_prompt(marks);
  for (const char* label : {"person", "city"}) add_label(marks, encode_plain(*tokenizer_, label, {}), prompt);
  end_prompt(marks, prompt);
  const TextWords words = encode_words(*tokenizer_, "Ada King met state-of-the-art in Rome", {});
  const LabelledWindow expected =
      make_labelled_window(prompt, words, {0, words.words.size()}, {.pieces = 1000}, tokenizer_->special());
  ASSERT_EQ(learned.sequences.size(), 1u);
  EXPECT_EQ(learned.sequences[0].ids, expected.sequence.ids);
  EXPECT_EQ(learned.words.labels, expected.request.words.labels);
  EXPECT_EQ(learned.words.pieces, expected.request.words.pieces);
  EXPECT_EQ(learned.words.word_starts, expected.request.words.word_starts);
  ASSERT_EQ(learned.entities.size(), 2u);
  EXPECT_EQ(learned.entities[0].label, 0) << "by the place of the label before the text";
  EXPECT_EQ(learned.entities[1].label, 1);
  EXPECT_EQ(with_labels(samples, 0, Labels{0}).entities.size(), 1u)
      << "of a label that is not there nothing is learned";
}

TEST_F(ExtractionSamples, WhatCannotBeLearnedIsCounted) {
  reading_.extraction.config.max_width = 2;
  const TaskSamples samples = read(R"({"text": "one two three", "entities": [{"start": 0, "end": 13, "label": "x"},)"
                                   R"( {"start": 1, "end": 3, "label": "x"}, {"start": 0, "end": 7, "label": "x"}]})"
                                   "\n{\"text\": \" \", \"entities\": []}\n");
  EXPECT_EQ(samples.too_wide, 1u);
  EXPECT_EQ(samples.unaligned, 1u);
  EXPECT_EQ(samples.empty, 1u);
  ASSERT_EQ(samples.samples.size(), 1u);
  EXPECT_EQ(samples.samples[0].entities.size(), 1u);
  EXPECT_EQ(notes_of(samples).size(), 3u);
  reading_.extraction.config.span_mode = SpanMode::kTokenLevel;
  EXPECT_EQ(read(R"({"text": "one two three", "entities": [{"start": 0, "end": 13, "label": "x"}]})"
                 "\n")
                .too_wide,
            0u)
      << "words have no width";
}

// Each window learns the entities that it has as a whole.
TEST_F(ExtractionSamples, LongTextsAreLearnedInWindows) {
  std::string text;
  for (int n = 0; n < 60; ++n) text += "word ";
  reading_.max_tokens = 40;
  reading_.stride = 4;
  const std::string row = R"({"text": ")" + text +
                          R"(Rome", "entities": [{"start": 300, "end": 304, "label": "city"}]})"
                          "\n";
  const TaskSamples samples = read(row);
  ASSERT_GT(samples.samples.size(), 1u);
  EXPECT_EQ(samples.in_windows, 1u);
  size_t entities = 0;
  for (size_t n = 0; n < samples.samples.size(); ++n) {
    entities += samples.samples[n].entities.size();
    EXPECT_LE(with_labels(samples, n, Labels{0}).tokens(), 40u);
  }
  EXPECT_EQ(entities, 1u);
  EXPECT_EQ(samples.in_no_window, 0u);
  EXPECT_EQ(samples.samples.back().entities.size(), 1u);
  reading_.reads_windows = false;
  const TaskSamples first = read(row);
  EXPECT_EQ(first.samples.size(), 1u);
  EXPECT_EQ(first.cut, 1u);
  EXPECT_EQ(first.in_no_window, 1u);
  EXPECT_EQ(notes_of(first),
            Notes{"entities that are not learned, as no window has them as a whole, or as they are cut off: 1"});
}

// Labels that cannot stand before it take no room from it.
TEST_F(ExtractionSamples, ARowHasTheRoomBehindItsOwnLabels) {
  reading_.max_tokens = 36;
  const std::string text = R"({"text": "one two three four", "entities": [{"start": 0, "end": 3, "label": )";
  const std::string few = text + R"("x"}], "labels": ["y"]})" + "\n";
  const std::string with_long =
      few + R"({"text": "a", "entities": [], "labels": ["a label of many, many words"]})" + "\n";
  EXPECT_EQ(read(few).in_windows, 0u);
  EXPECT_EQ(read(with_long).in_windows, 0u);
  const std::string any = text + R"("x"}]})" + "\n";
  EXPECT_EQ(read(with_long + any).in_windows, 1u) << "any label may stand before this one";
  reading_.max_tokens = 20;
  const TaskSamples rest = read(with_long, {.bad_rows = BadRows::kSkip});
  EXPECT_EQ(rest.bad, 1u) << "its own labels leave no room";
}

TEST_F(ExtractionSamples, EntitiesLongerThanAWindowAreCounted) {
  std::string text;
  for (int n = 0; n < 60; ++n) text += "word ";
  reading_.max_tokens = 40;
  reading_.extraction.config.span_mode = SpanMode::kTokenLevel;
  const TaskSamples samples =
      read(R"({"text": ")" + text + R"(", "entities": [{"start": 0, "end": 299, "label": "x"}]})" + "\n");
  ASSERT_GT(samples.samples.size(), 1u);
  EXPECT_EQ(samples.in_no_window, 1u);
  EXPECT_TRUE(std::ranges::all_of(samples.samples, [](const auto& sample) { return sample.entities.empty(); }));
}

TEST_F(ExtractionSamples, FewLabelsAllStandBeforeEveryText) {
  const TaskSamples samples = many(4);
  size_t all = 0;
  for (uint32_t epoch = 0; epoch < 50; ++epoch) {
    Labels labels = draw_labels(samples, 2, 7, epoch);
    EXPECT_NE(std::ranges::find(labels, 2), labels.end()) << "its own";
    std::ranges::sort(labels);
    EXPECT_EQ(std::unique(labels.begin(), labels.end()), labels.end()) << "each once";
    all += labels.size() == 4;
  }
  EXPECT_GT(all, 35u) << "of 0 to 25 others there are three";
}

TEST_F(ExtractionSamples, LabelsAreDrawnAnewForEachEpoch) {
  const TaskSamples samples = many(200);
  std::set<Labels> drawn;
  std::set<size_t> sizes;
  for (uint32_t epoch = 0; epoch < 40; ++epoch) {
    const Labels labels = draw_labels(samples, 5, 7, epoch);
    EXPECT_EQ(labels, draw_labels(samples, 5, 7, epoch)) << "a function of its arguments";
    EXPECT_LE(labels.size(), 25u);
    drawn.insert(labels);
    sizes.insert(labels.size());
  }
  EXPECT_GT(drawn.size(), 38u);
  EXPECT_GT(sizes.size(), 10u) << "texts have few labels and many";
  EXPECT_NE(draw_labels(samples, 5, 8, 0), draw_labels(samples, 5, 7, 0)) << "of another seed";
}

// A label that more rows have is drawn more often.
TEST_F(ExtractionSamples, LabelsAreDrawnAsOftenAsRowsHaveThem) {
  std::string text;
  for (int n = 0; n < 300; ++n)
    text += R"({"text": "Ada", "entities": [{"start": 0, "end": 3, "label": ")" +
            std::string(n % 3 > 0 ? "common" : "rare " + std::to_string(n)) + "\"}]}\n";
  reading_.extraction.most_drawn = 1;
  const TaskSamples samples = read(text);
  const auto common = static_cast<int32_t>(std::ranges::find(samples.labels, "common") - samples.labels.begin());
  size_t with_common = 0, with_other = 0;
  for (uint32_t epoch = 0; epoch < 300; ++epoch) {
    const Labels labels = draw_labels(samples, 0, 7, epoch);  // a rare one
    if (labels.size() < 2) continue;
    (std::ranges::find(labels, common) != labels.end() ? with_common : with_other) += 1;
  }
  EXPECT_GT(with_common, with_other);
  EXPECT_GT(with_other, 10u);
}

// Where none is drawn for a text without entities, its one label is any of the file's.
TEST_F(ExtractionSamples, ATextWithoutEntitiesGetsAnyLabel) {
  reading_.extraction.most_drawn = 0;
  const TaskSamples samples = read(R"({"text": "a b c", "entities": [{"start": 0, "end": 1, "label": "x"},)"
                                   R"( {"start": 2, "end": 3, "label": "y"}, {"start": 4, "end": 5, "label": "z"}]})"
                                   "\n{\"text\": \"it rained\", \"entities\": []}\n");
  std::set<Labels> drawn;
  for (uint32_t epoch = 0; epoch < 40; ++epoch) {
    const Labels labels = draw_labels(samples, 1, 7, epoch);
    EXPECT_EQ(labels.size(), 1u);
    drawn.insert(labels);
  }
  EXPECT_EQ(drawn, (std::set<Labels>{{0}, {1}, {2}}));
}

TEST_F(ExtractionSamples, RowsThatSayWhatTheyWereSearchedForGetTheseLabels) {
  const TaskSamples samples =
      read(R"({"tokenized_text": ["Ada"], "ner": [[0, 0, "person"]], "ner_negatives": ["city", "river"]})"
           "\n"
           R"({"text": "Po", "entities": [{"start": 0, "end": 2, "label": "lake"}]})"
           "\n");
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"city", "lake", "person", "river"}));
  for (uint32_t epoch = 0; epoch < 20; ++epoch) {
    Labels labels = draw_labels(samples, 0, 7, epoch);
    std::ranges::sort(labels);
    EXPECT_EQ(labels, (Labels{0, 2, 3}));
  }
}

// Nobody has looked for any label there: none may be learned to be absent.
TEST_F(ExtractionSamples, TextsThatWereSearchedForNothingAreLeftOut) {
  const TaskSamples samples = read("{\"text\": \"Rome\", \"entities\": [], \"labels\": []}\n" + one_line(kAda));
  EXPECT_EQ(samples.unsearched, 1u);
  EXPECT_EQ(samples.examples, 2u);
  EXPECT_EQ(samples.samples.size(), 1u);
  EXPECT_EQ(notes_of(samples), Notes{"texts that are left out, as they were searched for no label: 1"});
}

// A window without the row's entity was searched for its label as well.
TEST_F(ExtractionSamples, EveryWindowGetsTheLabelsOfItsRow) {
  std::string text = "Rome";
  for (int n = 0; n < 60; ++n) text += " word";
  reading_.max_tokens = 40;
  reading_.stride = 4;
  const TaskSamples samples =
      read(R"({"text": ")" + text + R"(", "entities": [{"start": 0, "end": 4, "label": "city"}], "labels": []})" +
           "\n" + one_line(kAda));
  ASSERT_GT(samples.samples.size(), 2u);
  EXPECT_TRUE(samples.samples[1].entities.empty());
  for (uint32_t epoch = 0; epoch < 40; ++epoch) EXPECT_EQ(draw_labels(samples, 1, 7, epoch), Labels{0});
}

TEST_F(ExtractionSamples, NoMoreLabelsThanMayStandThere) {
  reading_.extraction.most_labels = 2;
  const TaskSamples samples = read(
      R"({"text": "a b c", "entities": [{"start": 0, "end": 1, "label": "x"}, {"start": 2, "end": 3, "label": "y"},)"
      R"( {"start": 4, "end": 5, "label": "z"}]})"
      "\n");
  std::set<Labels> drawn;
  for (uint32_t epoch = 0; epoch < 20; ++epoch) {
    const Labels labels = draw_labels(samples, 0, 7, epoch);
    EXPECT_EQ(labels.size(), 2u);
    EXPECT_EQ(with_labels(samples, 0, labels).entities.size(), 2u);
    drawn.insert(labels);
  }
  EXPECT_GT(drawn.size(), 2u);
}

// What memory is measured with.
TEST_F(ExtractionSamples, TheLongestLabelsBeforeASample) {
  reading_.extraction.most_labels = 2;
  TaskSamples samples = read(R"({"text": "a", "entities": [{"start": 0, "end": 1, "label": "x"}]})"
                             "\n"
                             R"({"text": "b", "entities": [{"start": 0, "end": 1, "label": "a long label of words"}]})"
                             "\n"
                             R"({"text": "c", "entities": [], "labels": ["y", "z"]})"
                             "\n");
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"a long label of words", "x", "y", "z"}));
  for (TaskSample& sample : samples.samples) sample = with_longest_labels(samples, sample);
  const auto drawn = [&](size_t number) {
    Labels labels = draw_labels(samples, number, 7, 0);
    std::ranges::sort(labels);
    return labels;
  };
  EXPECT_EQ(drawn(0), (Labels{0, 1}));
  EXPECT_EQ(drawn(1).size(), 2u);
  EXPECT_EQ(drawn(2), (Labels{2, 3})) << "others never stand before this one";
}

TEST_F(ExtractionSamples, AStepPacksTextsBehindTheirLabels) {
  const TaskSamples samples = many(40);
  const TaskBatches batches(samples, {.seed = 3, .samples_per_step = 8, .accumulation = 2});
  const std::vector<TaskBatch> step = batches.make(0), again = batches.make(0), later = batches.make(5);
  ASSERT_EQ(step.size(), 2u);
  EXPECT_EQ(step[0].input.ids_T, again[0].input.ids_T);
  EXPECT_NE(step[0].input.ids_T, later[0].input.ids_T);
  for (const TaskBatch& batch : step) {
    ASSERT_EQ(batch.words_B.size(), 4u);
    EXPECT_EQ(batch.entities.size(), 4u);
    for (size_t b = 0; b < 4; ++b) {
      for (const int32_t row : batch.words_B[b].labels) {
        EXPECT_EQ(batch.input.ids_T[static_cast<size_t>(row)], *tokenizer_->id_of("<<ENT>>"));
        EXPECT_GT(row, batch.input.starts[b]);
        EXPECT_LT(row, batch.input.starts[b + 1]);
      }
    }
  }
}

TEST_F(ExtractionSamples, WhatIsRefused) {
  EXPECT_ERROR(read("{\"text\": \"a\", \"entities\": []}\n"), kInput, "expected rows with entities, got none in 1");
  EXPECT_ERROR(read("{\"text\": \"a\", \"entities\": []}\n{\"text\": \"a\"}\n", {.bad_rows = BadRows::kSkip}), kInput,
               "expected rows with entities, got none in 2");
  EXPECT_ERROR(read("{\"text\": \"a\"}\n"), kInput,
               "train.jsonl:1: no entities; on_bad_row=report trains on the other");
  const TaskSamples rest = read("{\"text\": \"a\"}\n" + one_line(kAda), {.bad_rows = BadRows::kSkip});
  EXPECT_EQ(rest.bad, 1u);
  EXPECT_EQ(rest.examples, 1u);
  reading_.max_tokens = 12;
  EXPECT_ERROR(read(one_line(kAda)), kUsage, "for a text behind the 2 longest labels, got 12");
}

}  // namespace
}  // namespace deberta::train::extraction_samples_test
