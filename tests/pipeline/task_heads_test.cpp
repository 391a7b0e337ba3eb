// Tasks that run several sequences per input: windows, candidates, documents, choices, masked copies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "decode/windows.h"
#include "pipeline/entity.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::task_heads_test {
namespace {

class TaskHeads : public testing::Test {
 protected:
  Pipeline make(Head head, std::vector<std::string> labels, int64_t classes) {
    return test::tiny_pipeline(folder_, head, std::move(labels), classes);
  }
  Pipeline entailment() { return make(Head::kSequence, {"contradiction", "neutral", "entailment"}, 3); }
  test::TemporaryFolder folder_;
};

std::string long_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word" + std::to_string(i) + (i % 7 == 0 ? ". " : " ");
  return text;
}

EncodingRules windows_of(size_t tokens, size_t stride) {
  EncodingRules rules;
  rules.long_text = LongText::kWindow;
  rules.encode.max_tokens = tokens;
  rules.stride = stride;
  return rules;
}

std::vector<float> raw_logits(const Pipeline& pipeline, const TextInput& input) {
  SequenceOptions options;
  options.function = ScoreFunction::kNone;
  return classify(pipeline, {&input, 1}, options).at(0).scores;
}

TEST_F(TaskHeads, EntitiesTakeTheNamesOfTheMap) {
  const Pipeline pipeline = make(Head::kToken, {"O", "B-X", "I-X"}, 3);
  const TextInput input{"some words of a text"};
  TokenOptions options;
  options.entities = {.aggregation = Aggregation::kNone, .ignored = {}};
  const auto own = ner(pipeline, {&input, 1}, options).at(0).entities;
  options.label_map = {"none", "begin", "inside"};
  const auto named = ner(pipeline, {&input, 1}, options).at(0).entities;
  ASSERT_EQ(own.size(), named.size());
  for (size_t i = 0; i < own.size(); ++i)
    EXPECT_EQ(named[i].label, own[i].label == "O" ? "none" : own[i].label == "B-X" ? "begin" : "inside");
  options.label_map.pop_back();
  EXPECT_ERROR(ner(pipeline, {&input, 1}, options), kTask,
               "ner: expected 3 label names, got 2; give them in the model's order with label_map");
}

// Each window by hand, then each token's label from the window that places it best.
TEST_F(TaskHeads, EntitiesOfALongTextAreThoseOfItsWindows) {
  const Pipeline pipeline = make(Head::kToken, {"O", "B-X", "I-X"}, 3);
  const std::string text = long_text();
  const TextInput input{text};
  TokenOptions options;
  options.entities = {.aggregation = Aggregation::kNone, .ignored = {}};
  options.rules = windows_of(20, 5);
  const TokenAnswer answer = ner(pipeline, {&input, 1}, options).at(0);

  EncodeOptions bare;
  bare.add_special_tokens = false;
  const Encoding whole = pipeline.tokenizer.encode(text, bare);
  const std::vector<Window> windows = make_windows(whole.size(), 18, 5);
  const std::vector<size_t> chosen = choose_windows(windows, whole.size());
  ASSERT_GT(windows.size(), 3u);
  ASSERT_EQ(answer.entities.size(), whole.size());
  EXPECT_EQ(answer.cut_tokens, 0u);
  for (size_t t = 0; t < whole.size(); ++t) {
    const Encoding encoding = window_encoding(whole, windows[chosen[t]], pipeline.tokenizer.special());
    Batch batch;
    batch.add(encoding.ids);
    ForwardResult result;
    pipeline.model.forward(batch, {}, result);
    const float* row = &result.logits[3 * (t - windows[chosen[t]].first + 1)];
    const auto best = static_cast<size_t>(std::max_element(row, row + 3) - row);
    EXPECT_EQ(answer.entities[t].label, pipeline.config.labels[best]) << t;
    EXPECT_EQ(answer.entities[t].bytes, whole.bytes[t]) << t;
  }
}

TEST_F(TaskHeads, OfAPairTheLongerTextIsReadInWindows) {
  const Pipeline pipeline = entailment();
  const std::string text = long_text(), other = "a few words";
  SequenceOptions options;
  options.function = ScoreFunction::kNone;
  options.rules = windows_of(40, 8);
  EncodeOptions bare;
  bare.add_special_tokens = false;
  const Encoding whole = pipeline.tokenizer.encode(text, bare), beside = pipeline.tokenizer.encode(other, bare);
  const std::vector<Window> windows = make_windows(whole.size(), 40 - 3 - beside.size(), 8);
  ASSERT_GT(windows.size(), 2u);
  for (const bool is_second : {true, false}) {
    const TextInput pair = is_second ? TextInput{other, text} : TextInput{text, other};
    std::vector<double> sums(3);
    for (const Window& window : windows) {
      Encoding shown = window_encoding(beside, whole, window, pipeline.tokenizer.special());
      if (!is_second) {
        shown = window_encoding(whole, window, pipeline.tokenizer.special());
        shown.ids.insert(shown.ids.end(), beside.ids.begin(), beside.ids.end());
        shown.ids.push_back(pipeline.tokenizer.special().sep);
        shown.type_ids.resize(shown.ids.size(), 1);
      }
      const std::vector<float> logits = raw_logits(pipeline, {{}, {}, {}, {&shown, 1}});
      for (size_t c = 0; c < 3; ++c) sums[c] += logits[c];
    }
    const SequenceAnswer answer = classify(pipeline, {&pair, 1}, options).at(0);
    for (size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(answer.scores[c], sums[c] / static_cast<double>(windows.size()), 1e-6) << is_second;
    EXPECT_EQ(answer.cut_tokens, 0u);
  }
  const TextInput both{text, text};
  EXPECT_ERROR(classify(pipeline, {&both, 1}, options), kTextTooLong,
               "in the shorter text of a pair that is read in windows");
  options.window_scores = WindowScores::kEach;
  const TextInput pair{other, text};
  EXPECT_ERROR(classify(pipeline, {&pair, 1}, options), kInput, "expected one text for the scores of each window");
}

TEST_F(TaskHeads, AWorstWindowOfAPairIsFoundAtItsEnd) {
  const Pipeline pipeline = entailment();
  const std::string text = long_text();
  SequenceOptions options;
  options.rules = windows_of(40, 8);
  options.window_scores = WindowScores::kMax;
  options.benign_labels = {"entailment", "neutral"};
  const TextInput pair{"a question", text};
  const float worst = classify(pipeline, {&pair, 1}, options).at(0).scores[0];
  options.window_scores = WindowScores::kMean;
  EXPECT_GE(worst, classify(pipeline, {&pair, 1}, options).at(0).scores[0]);
}

TEST_F(TaskHeads, AShortTextIsReadAsWithoutWindows) {
  const Pipeline pipeline = make(Head::kToken, {"O", "B-X", "I-X"}, 3);
  const TextInput input{"a few words"};
  TokenOptions options;
  options.entities.ignored = {};
  const auto plain = ner(pipeline, {&input, 1}, options).at(0).entities;
  options.rules = windows_of(20, 5);
  const auto windowed = ner(pipeline, {&input, 1}, options).at(0).entities;
  ASSERT_EQ(plain.size(), windowed.size());
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(plain[i].score, windowed[i].score);
}

TEST_F(TaskHeads, ClassifyTakesTheMeanOfTheWindowsLogits) {
  const Pipeline pipeline = entailment();
  const std::string text = long_text();
  const TextInput input{text};
  SequenceOptions options;
  options.function = ScoreFunction::kNone;
  options.rules = windows_of(40, 8);
  const std::vector<float> scores = classify(pipeline, {&input, 1}, options).at(0).scores;
  EncodeOptions bare;
  bare.add_special_tokens = false;
  const Encoding whole = pipeline.tokenizer.encode(text, bare);
  const std::vector<Window> windows = make_windows(whole.size(), 38, 8);
  ASSERT_GT(windows.size(), 2u);
  std::vector<double> sums(3);
  for (const Window& window : windows) {
    const Encoding encoding = window_encoding(whole, window, pipeline.tokenizer.special());
    const TextInput part{{}, {}, {}, {&encoding, 1}};
    const std::vector<float> logits = raw_logits(pipeline, part);
    for (size_t c = 0; c < 3; ++c) sums[c] += logits[c];
  }
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(scores[c], sums[c] / static_cast<double>(windows.size()), 1e-6);
}

TEST_F(TaskHeads, TasksWithoutWindowsRefuseThem) {
  const std::string text = long_text();
  const TextInput input{text}, pair{text, text};
  EmbeddingOptions vectors;
  vectors.rules = windows_of(20, 5);
  EXPECT_ERROR(embed(entailment(), {&input, 1}, vectors), kUsage, "got window");
  SequenceOptions options;
  options.rules = windows_of(20, 5);
  EXPECT_ERROR(classify(entailment(), {&pair, 1}, options), kTextTooLong,
               "expected at most 7 tokens in the shorter text");
}

TEST_F(TaskHeads, ZeroShotComparesEntailmentOverTheCandidates) {
  const Pipeline pipeline = entailment();
  const TextInput input{"the match ended"};
  ZeroShotOptions options;
  options.labels = {"sports", "politics"};
  const ZeroShotAnswer answer = zero_shot(pipeline, {&input, 1}, options).at(0);
  std::vector<float> entailed;
  for (const char* hypothesis : {"This example is sports.", "This example is politics."})
    entailed.push_back(raw_logits(pipeline, {input.text, hypothesis})[2]);
  const double share = 1 / (1 + std::exp(double{entailed[1]} - entailed[0]));
  EXPECT_NEAR(answer.scores[0], share, 1e-6);
  EXPECT_NEAR(answer.scores[1], 1 - share, 1e-6);
  EXPECT_EQ(answer.labels[0].label, share > 0.5 ? "sports" : "politics");
}

TEST_F(TaskHeads, ZeroShotOfManyLabelsSetsEntailmentAgainstContradiction) {
  const Pipeline pipeline = entailment();
  const TextInput input{"the match ended"};
  ZeroShotOptions options;
  options.labels = {"sports"};
  options.hypothesis_template = "It is {}!";
  const std::vector<float> logits = raw_logits(pipeline, {input.text, "It is sports!"});
  const double expected = 1 / (1 + std::exp(double{logits[0]} - logits[2]));
  EXPECT_NEAR(zero_shot(pipeline, {&input, 1}, options).at(0).scores[0], expected, 1e-6);  // one candidate: no change
  options.is_multi_label = true;
  options.labels.push_back("politics");
  EXPECT_NEAR(zero_shot(pipeline, {&input, 1}, options).at(0).scores[0], expected, 1e-6);
}

TEST_F(TaskHeads, ZeroShotTakesEntailmentByItsName) {
  const Pipeline pipeline = make(Head::kSequence, {"neutral", "entailment", "contradiction"}, 3);
  const TextInput input{"the match ended"};
  ZeroShotOptions options;
  options.labels = {"sports", "politics"};
  options.is_multi_label = true;
  const ZeroShotAnswer answer = zero_shot(pipeline, {&input, 1}, options).at(0);
  for (size_t i = 0; i < 2; ++i) {
    const std::string hypothesis = "This example is " + options.labels[i] + ".";
    const std::vector<float> logits = raw_logits(pipeline, {input.text, hypothesis});
    EXPECT_NEAR(answer.scores[i], 1 / (1 + std::exp(double{logits[2]} - logits[1])), 1e-6) << hypothesis;
  }
}

TEST_F(TaskHeads, ZeroShotCutsTheTextAndNeverTheHypothesis) {
  const Pipeline pipeline = entailment();
  const std::string text = long_text();
  ZeroShotOptions options;
  options.labels = {"sports"};
  options.rules.encode.max_tokens = 24;
  options.rules.encode.truncate = Truncate::kRight;
  const Encoding encoding = encode_input(pipeline.tokenizer, {text}, options.sequence_rules()).at(0);
  const Encoding hypothesis = pipeline.tokenizer.encode("This example is sports.");
  EXPECT_EQ(encoding.size(), 24u);
  EXPECT_EQ(std::count(encoding.type_ids.begin(), encoding.type_ids.end(), 1),
            static_cast<std::ptrdiff_t>(hypothesis.size() - 1));
  options.rules.encode.max_tokens = 5;
  EXPECT_ERROR(encode_input(pipeline.tokenizer, {text}, options.sequence_rules()), kTextTooLong,
               "second text: expected at most 2 tokens");
}

TEST_F(TaskHeads, ZeroShotNeedsCandidatesAndAPlaceForThem) {
  const Pipeline pipeline = entailment();
  EXPECT_ERROR(zero_shot(pipeline, {}, {}), kUsage, "expected candidate labels");
  ZeroShotOptions options;
  options.labels = {"x"};
  options.hypothesis_template = "no place";
  EXPECT_ERROR(zero_shot(pipeline, {}, options), kUsage, "expected {}");
}

TEST_F(TaskHeads, RerankOrdersDocumentsByLogitAndKeepsTheirIndices) {
  const Pipeline pipeline = make(Head::kSequence, {"score"}, 1);
  const std::vector<std::string> documents{"one", "two", "three", "one"};
  const TextInput input{"a query", {}, documents};
  const RankAnswer answer = rerank(pipeline, {&input, 1}).at(0);
  ASSERT_EQ(answer.documents.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const RankedDocument& document = answer.documents[i];
    EXPECT_NEAR(document.logit, raw_logits(pipeline, {"a query", documents[document.index]})[0], 1e-6);
    EXPECT_NEAR(document.score, 1 / (1 + std::exp(-double{document.logit})), 1e-6);
    EXPECT_GE(answer.documents[i > 0 ? i - 1 : 0].logit, document.logit);
  }
  const auto rank_of = [&](size_t index) {
    return std::find_if(answer.documents.begin(), answer.documents.end(),
                        [&](const auto& d) { return d.index == index; });
  };
  EXPECT_LT(rank_of(0), rank_of(3));  // equal texts stay in their order
  RankOptions two;
  two.top_n = 2;
  EXPECT_EQ(rerank(pipeline, {&input, 1}, two).at(0).documents.size(), 2u);
}

TEST_F(TaskHeads, RerankRefusesAHeadWithClassesAndAQueryWithoutDocuments) {
  EXPECT_ERROR(rerank(entailment(), {}), kTask, "expected a head with one class, got 3");
  const TextInput input{"a query"};
  EXPECT_ERROR(rerank(make(Head::kSequence, {"score"}, 1), {&input, 1}), kInput, "documents: expected at least one");
}

TEST_F(TaskHeads, ChooseReadsQuestionAndChoiceBehindTheContext) {
  const Pipeline pipeline = make(Head::kSequence, {"score"}, 1);
  const std::vector<std::string> choices{"wet", "dry ", "cold"};
  const TextInput input{"It  rained\nall day .", "The street was _", choices};
  const ChoiceAnswer answer = choose(pipeline, {&input, 1}).at(0);
  ASSERT_EQ(answer.logits.size(), 3u);
  EXPECT_NEAR(answer.logits[1], raw_logits(pipeline, {"It rained all day .", "The street was _ dry"})[0], 1e-6);
  EXPECT_EQ(answer.index,
            static_cast<size_t>(std::max_element(answer.logits.begin(), answer.logits.end()) - answer.logits.begin()));
  const ChoiceAnswer plain = choose(pipeline, {&input, 1}, {{}, ChoiceForm::kPlain}).at(0);
  EXPECT_NEAR(plain.logits[1], raw_logits(pipeline, {"It  rained\nall day .", "The street was _ dry "})[0], 1e-6);
}

TEST_F(TaskHeads, ChooseRefusesALongChoiceWhereNothingIsToBeCut) {
  const Pipeline pipeline = make(Head::kSequence, {"score"}, 1);
  std::string longest;
  while (pipeline.tokenizer.encode("q " + longest, {.add_special_tokens = false}).size() < 160) longest += " a";
  const std::vector<std::string> fits{"b", longest}, longer{"b", longest + " a"};
  ChoiceOptions options;
  options.rules.encode.max_tokens = 512;
  options.rules.encode.truncate = Truncate::kNone;
  options.rules.long_text = LongText::kRefuse;
  const TextInput whole{"x", "q", fits}, cut{"x", "q", longer};
  EXPECT_EQ(choose(pipeline, {&whole, 1}, options).at(0).cut_tokens, 0u);
  EXPECT_ERROR(choose(pipeline, {&cut, 1}, options), kTextTooLong,
               "question and choice: expected at most 160 tokens, got 161");
  options.rules.long_text = LongText::kCut;
  EXPECT_EQ(choose(pipeline, {&cut, 1}, options).at(0).cut_tokens, 1u);
  options.form = ChoiceForm::kPlain;  // has no such limit
  options.rules.long_text = LongText::kRefuse;
  EXPECT_EQ(choose(pipeline, {&cut, 1}, options).at(0).cut_tokens, 0u);
}

TEST_F(TaskHeads, ChooseByYesAndNoTakesTheLargerProbabilityOfYes) {
  const Pipeline pipeline = make(Head::kSequence, {"no", "yes"}, 2);
  const std::vector<std::string> choices{"it rained", "it was dry"};
  for (const char* question : {"cause", "effect"}) {
    const TextInput input{"the street is wet", question, choices};
    const ChoiceAnswer answer = choose(pipeline, {&input, 1}, {{}, ChoiceForm::kCopa}).at(0);
    for (size_t i = 0; i < 2; ++i) {
      const bool is_cause = std::string(question) == "cause";
      const TextInput pair = is_cause ? TextInput{choices[i], input.text} : TextInput{input.text, choices[i]};
      const std::vector<float> logits = raw_logits(pipeline, pair);
      EXPECT_NEAR(answer.logits[i], logits[1] - logits[0], 1e-5) << question;
    }
  }
  const TextInput wrong{"x", "why", choices};
  EXPECT_ERROR(choose(pipeline, {&wrong, 1}, {{}, ChoiceForm::kCopa}), kInput, "expected cause or effect, got \"why\"");
}

TEST_F(TaskHeads, ChooseReadsNoAndYesByTheirNames) {
  const std::vector<std::string> choices{"it rained", "it was dry"};
  const TextInput input{"the street is wet", "", choices};
  const auto logits_of = [&](const std::vector<std::string>& labels) {
    return choose(make(Head::kSequence, labels, 2), {&input, 1}).at(0).logits;
  };
  const std::vector<float> wanted = logits_of({"no", "yes"});
  for (const std::vector<std::string>& same :
       {std::vector<std::string>{}, {"LABEL_0", "LABEL_1"}, {"FALSE", "True"}, {"0", "1"}, {"not_right", "right"}})
    EXPECT_EQ(logits_of(same), wanted);
  const std::vector<float> turned{-wanted[0], -wanted[1]};
  for (const std::vector<std::string>& labels :
       {std::vector<std::string>{"yes", "no"}, {"1", "0"}, {"correct", "incorrect"}, {"right", "not right"}})
    EXPECT_EQ(logits_of(labels), turned) << labels[0];
  for (const std::vector<std::string>& labels :
       {std::vector<std::string>{"negative", "positive"}, {"yes", "yes"}, {"no", "maybe"}})
    EXPECT_ERROR(logits_of(labels), kTask, "or two that mean no and yes");
}

TEST_F(TaskHeads, ChooseNeedsChoicesAndAHeadForThem) {
  const std::vector<std::string> single{"wet"};
  const TextInput input{"x", "y", single};
  EXPECT_ERROR(choose(make(Head::kSequence, {"score"}, 1), {&input, 1}), kInput,
               "choices: expected at least two, got 1");
  EXPECT_ERROR(choose(entailment(), {}), kTask, "got 3");
}

TEST_F(TaskHeads, AnAnswerStandsAtItsPlaceInTheContext) {
  const Pipeline pipeline = make(Head::kSpan, {}, 2);
  const std::string context = "caf\xC3\xA9 " + long_text();
  const TextInput input{"who is it ?", context};
  QuestionOptions options;
  options.top_k = 5;
  options.rules.encode.max_tokens = 32;
  options.rules.stride = 6;
  const QuestionAnswer answer = qa(pipeline, {&input, 1}, options).at(0);
  EXPECT_GT(answer.windows, 3u);
  ASSERT_EQ(answer.answers.size(), 5u);
  for (const SpanAnswer& span : answer.answers) {
    EXPECT_EQ(context.substr(span.bytes.begin, span.bytes.end - span.bytes.begin), span.text);
    EXPECT_LE(span.bytes.end - span.bytes.begin, span.bytes.end);
    EXPECT_TRUE(span.bytes.begin == 0 || context[span.bytes.begin - 1] == ' ') << span.text;
    EXPECT_EQ(span.chars.begin + (span.bytes.begin > 4 ? 1u : 0u), span.bytes.begin);
  }
  EXPECT_TRUE(std::is_sorted(answer.answers.begin(), answer.answers.end(),
                             [](const SpanAnswer& a, const SpanAnswer& b) { return a.score > b.score; }));
}

TEST_F(TaskHeads, AsTransformersAStrideLeavesEachWindowATokenOfItsOwn) {
  const Pipeline pipeline = make(Head::kSpan, {}, 2);
  const std::string context = long_text();
  const TextInput input{"who is it ?", context}, short_input{"who is it ?", "a short context"};
  QuestionOptions options;
  options.rules.encode.max_tokens = 32;
  const size_t question = pipeline.tokenizer.encode("who is it ?", {.add_special_tokens = false}).size();
  const size_t room = 32 - question - 3;  // [CLS] and two [SEP]
  options.rules.stride = room;
  const size_t windows = qa(pipeline, {&input, 1}, options).at(0).windows;  // of half a window
  options.as_transformers = true;
  EXPECT_ERROR(qa(pipeline, {&input, 1}, options), kInput, "stride: expected less than the");
  EXPECT_EQ(qa(pipeline, {&short_input, 1}, options).at(0).windows, 1u);
  options.rules.stride = room - 1;
  EXPECT_GT(qa(pipeline, {&input, 1}, options).at(0).windows, windows);
}

TEST_F(TaskHeads, ALongQuestionIsCutAndCountedAContextNever) {
  const Pipeline pipeline = make(Head::kSpan, {}, 2);
  const std::string text = long_text();
  const TextInput input{text, "a short context"};
  QuestionOptions options;
  options.max_question_tokens = 7;
  const QuestionAnswer answer = qa(pipeline, {&input, 1}, options).at(0);
  EXPECT_GT(answer.cut_tokens, 100u);
  EXPECT_EQ(answer.windows, 1u);
  options.rules.encode.max_tokens = 10;
  EXPECT_ERROR(qa(pipeline, {&input, 1}, options), kTextTooLong, "question: expected less than 10 tokens");
  const TextInput alone{"a question"};
  EXPECT_ERROR(qa(pipeline, {&alone, 1}), kInput, "expected a question and a context");
}

TEST_F(TaskHeads, AnEmptyContextHasNoAnswer) {
  const Pipeline pipeline = make(Head::kSpan, {}, 2);
  const TextInput input{"who ?", ""};
  EXPECT_TRUE(qa(pipeline, {&input, 1}).at(0).answers.empty());
}

TEST_F(TaskHeads, EachTokenIsScoredWhileItIsMasked) {
  const Pipeline pipeline = make(Head::kMaskedLm, {}, 0);
  const TextInput input{"a house of cards"};
  const TextScoreAnswer answer = score_text(pipeline, {&input, 1}).at(0);
  const Encoding encoding = pipeline.tokenizer.encode(input.text);
  ASSERT_EQ(answer.pieces.size(), encoding.size() - 2);
  for (size_t i = 0; i < answer.pieces.size(); ++i) {
    Batch batch;
    std::vector<int32_t> ids = encoding.ids;
    ids[i + 1] = pipeline.tokenizer.special().mask;
    batch.add(ids);
    ForwardResult result;
    pipeline.model.forward(batch, {}, result);
    const float* row = &result.logits[(i + 1) * result.logits_columns];
    double sum = 0;
    for (size_t v = 0; v < result.logits_columns; ++v) sum += std::exp(double{row[v]});
    EXPECT_NEAR(answer.pieces[i].log_probability, row[encoding.ids[i + 1]] - std::log(sum), 1e-4);
    EXPECT_EQ(answer.pieces[i].bytes, encoding.bytes[i + 1]);
  }
  const double pieces = static_cast<double>(answer.pieces.size());
  EXPECT_NEAR(answer.perplexity, std::exp(-answer.log_probability / pieces), 1e-9);
  EXPECT_NEAR(answer.word_perplexity, std::exp(-answer.log_probability / 4), 1e-6);
}

TEST_F(TaskHeads, EntitiesOfAPassageAreScoredByTheMeanOverTheirWindows) {
  const Pipeline pipeline = make(Head::kTokenOriginal, {"entity"}, 1);
  const std::string passage = "Ada met Bob in Rome and Ada left";
  const Offset entities[] = {{0, 3}, {8, 11}, {24, 27}};
  const EntityQuery query{passage, "@placeholder met Bob", entities};
  EncodingRules rules;
  rules.encode.max_tokens = 512;
  rules.stride = 256;
  const EntityScores scores = score_entities(pipeline, {&query, 1}, rules).at(0);
  ASSERT_EQ(scores.scores.size(), 3u);
  for (const float score : scores.scores) EXPECT_TRUE(-0.5f < score && score < 0.5f) << score;
  EXPECT_NE(scores.scores[0], scores.scores[2]);  // the same name at another position
}

// Windows of `room` tokens as the original cuts them: one begins wherever the passage has not ended.
std::vector<Window> windows_of_passage(size_t tokens, size_t room, size_t overlap) {
  std::vector<Window> windows;
  for (size_t first = 0; first < tokens; first += room - overlap)
    windows.push_back({first, std::min(tokens, first + room)});
  return windows;
}

// The logit of the tokens [first, last) of a passage in one window, followed by the query.
double entity_logit(const Pipeline& pipeline, const Encoding& passage, const Window& window,
                    const std::vector<int32_t>& query, size_t first, size_t last) {
  const SpecialIds& special = pipeline.tokenizer.special();
  std::vector<int32_t> ids{special.cls};
  for (size_t t = window.first; t < window.last; ++t) ids.push_back(passage.ids[t]);
  ids.push_back(special.sep);
  ids.insert(ids.end(), query.begin(), query.end());
  ids.push_back(special.sep);
  ForwardOptions options;
  options.groups.push_back({0, {}});
  for (size_t t = first; t < last; ++t) options.groups[0].rows.push_back(static_cast<int32_t>(1 + t - window.first));
  Batch batch;
  batch.add(ids);
  ForwardResult result;
  pipeline.model.forward(batch, options, result);
  return result.logits.at(0);
}

TEST_F(TaskHeads, EntitiesOfALongPassageHaveTheMeanOfTheWindowsThatHoldThem) {
  const Pipeline pipeline = make(Head::kTokenOriginal, {"entity"}, 1);
  const std::string passage = long_text();
  EncodeOptions bare;
  bare.add_special_tokens = false;
  const Encoding whole = pipeline.tokenizer.encode(passage, bare);
  std::vector<int32_t> asked{pipeline.tokenizer.special().mask};
  for (const int32_t id : pipeline.tokenizer.encode(" met Bob", bare).ids) asked.push_back(id);
  const size_t room = 40, overlap = 16;
  const std::vector<Window> windows = windows_of_passage(whole.size(), room, overlap);
  ASSERT_GT(windows.size(), 4u);

  std::vector<Offset> entities;
  std::vector<Window> tokens;
  for (size_t first = 0; first + 3 <= whole.size(); first += 5) {
    tokens.push_back({first, first + 3});
    entities.push_back({whole.bytes[first].begin, whole.bytes[first + 2].end});
  }
  entities.push_back({0, whole.bytes.back().end});
  const EntityQuery query{passage, "@placeholder met Bob", entities};
  EncodingRules rules;
  rules.encode.max_tokens = room + asked.size() + 3;
  rules.stride = overlap;
  const std::vector<float> scores = score_entities(pipeline, {&query, 1}, rules).at(0).scores;

  size_t most = 0;
  for (size_t e = 0; e < tokens.size(); ++e) {
    double sum = 0;
    size_t count = 0;
    for (const Window& window : windows) {
      if (tokens[e].first < window.first || tokens[e].last > window.last) continue;
      sum -= std::log1p(std::exp(-entity_logit(pipeline, whole, window, asked, tokens[e].first, tokens[e].last)));
      ++count;
    }
    ASSERT_GT(count, 0u);
    most = std::max(most, count);
    EXPECT_NEAR(scores[e], std::exp(sum / static_cast<double>(count)) - 0.5, 1e-6) << e << " in " << count;
  }
  EXPECT_GT(most, 1u);
  EXPECT_EQ(scores.back(), -0.5f) << "no window holds the whole passage";
}

TEST_F(TaskHeads, EntitiesAndPlaceholdersMustBeThere) {
  const Pipeline pipeline = make(Head::kTokenOriginal, {"entity"}, 1);
  const Offset beyond[] = {{0, 99}};
  const EntityQuery outside{"Ada", "@placeholder", beyond}, without{"Ada", "who", {}};
  EncodingRules rules;
  rules.stride = 256;
  EXPECT_ERROR(score_entities(pipeline, {&outside, 1}, rules), kInput, "expected bytes of the passage, got 0..99");
  EXPECT_ERROR(score_entities(pipeline, {&without, 1}, rules), kInput, "expected @placeholder");
  EXPECT_ERROR(score_entities(make(Head::kToken, {"O"}, 1), {}, rules), kTask, "expected a ReCoRD entity head");
}

}  // namespace
}  // namespace deberta::task_heads_test
