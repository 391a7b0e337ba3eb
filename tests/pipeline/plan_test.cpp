// Plans: their sequences may run in any order and beside those of other plans, and the answers keep their bits.
#include "pipeline/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "pipeline/answer_json.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta {
namespace {

class Plans : public testing::Test {
 protected:
  Pipeline make(Head head, int64_t classes) {
    std::vector<std::string> labels = {"contradiction", "neutral", "entailment"};
    labels.resize(static_cast<size_t>(classes));
    return test::tiny_pipeline(folder_, head, std::move(labels), classes);
  }
  test::TemporaryFolder folder_;
};

// As a server might run them: from the last to the first, those of both plans by turns, three to a pack.
void run_mixed(const Model& model, const SequencePlan& a, const SequencePlan& b) {
  std::vector<PlannedSequence> all;
  for (size_t left = std::max(a.sequences.size(), b.sequences.size()); left > 0; --left) {
    if (left <= a.sequences.size()) all.push_back({&a, left - 1});
    if (left <= b.sequences.size()) all.push_back({&b, left - 1});
  }
  ForwardResult result;
  for (size_t at = 0; at < all.size(); at += 3)
    run_pack(model, std::span(all).subspan(at, std::min<size_t>(3, all.size() - at)), result);
}

template <class Answer, class ToText>
void expect_same(const Pipeline& pipeline, const Planned<Answer>& one, const std::vector<Answer>& expected_one,
                 const Planned<Answer>& other, const std::vector<Answer>& expected_other, const ToText& to_text) {
  ASSERT_GT(one.plan.sequences.size() + other.plan.sequences.size(), 3u);
  run_mixed(pipeline.model, one.plan, other.plan);
  const std::vector<Answer> ones = one.finish(), others = other.finish();
  ASSERT_EQ(ones.size(), expected_one.size());
  ASSERT_EQ(others.size(), expected_other.size());
  for (size_t i = 0; i < ones.size(); ++i) EXPECT_EQ(to_text(ones[i]), to_text(expected_one[i]));
  for (size_t i = 0; i < others.size(); ++i) EXPECT_EQ(to_text(others[i]), to_text(expected_other[i]));
}

std::string json_text(JsonObject object) {
  return Json(std::move(object)).dump();
}

const std::vector<TextInput> kFew = {{"a fine film"}, {"one text of a pair", "and the other text of it"}};
const std::vector<TextInput> kMore = {{"word by word it goes on and on until nobody reads it any more"}, {"so"}, {"!"}};

TEST_F(Plans, LabelsWithWindowsBesideOthers) {
  const Pipeline pipeline = make(Head::kSequence, 3);
  SequenceOptions raw;
  raw.function = ScoreFunction::kNone;
  SequenceOptions windows;
  windows.rules.long_text = LongText::kWindow;
  windows.rules.encode.max_tokens = 12;
  windows.rules.stride = 3;
  expect_same(pipeline, plan_classify(pipeline, kFew, raw), classify(pipeline, kFew, raw),
              plan_classify(pipeline, kMore, windows), classify(pipeline, kMore, windows),
              [](const SequenceAnswer& answer) { return json_text(to_json(answer)); });
}

TEST_F(Plans, CandidatesOfSeveralTexts) {
  const Pipeline pipeline = make(Head::kSequence, 3);
  ZeroShotOptions one, other;
  one.labels = {"sports", "politics"};
  other.labels = {"red", "green", "blue"};
  other.is_multi_label = true;
  expect_same(pipeline, plan_zero_shot(pipeline, kMore, one), zero_shot(pipeline, kMore, one),
              plan_zero_shot(pipeline, kMore, other), zero_shot(pipeline, kMore, other),
              [](const ZeroShotAnswer& answer) { return json_text(to_json(answer, "text")); });
}

TEST_F(Plans, PairsAndTheirRelations) {
  const Pipeline pipeline = make(Head::kSequence, 3);
  const std::vector<TextInput> pairs = {{"a", "b"}, {"it rains", "it is wet"}};
  expect_same(pipeline, plan_nli(pipeline, pairs, {}), nli(pipeline, pairs, {}), plan_nli(pipeline, pairs, {}),
              nli(pipeline, pairs, {}), [](const EntailmentAnswer& answer) { return json_text(to_json(answer)); });
}

TEST_F(Plans, DocumentsAndChoices) {
  const Pipeline pipeline = make(Head::kSequence, 1);
  const std::vector<std::string> items = {"one", "two words", "and three words"};
  const std::vector<TextInput> inputs = {{.text = "which", .items = items}, {.text = "of these", .items = items}};
  expect_same(pipeline, plan_rerank(pipeline, inputs, {}), rerank(pipeline, inputs, {}),
              plan_rerank(pipeline, inputs, {}), rerank(pipeline, inputs, {}),
              [&](const RankAnswer& answer) { return json_text(to_json(answer, "which", items, true)); });
  expect_same(pipeline, plan_choose(pipeline, inputs, {}), choose(pipeline, inputs, {}),
              plan_choose(pipeline, inputs, {}), choose(pipeline, inputs, {}),
              [&](const ChoiceAnswer& answer) { return json_text(to_json(answer, items)); });
}

TEST_F(Plans, EntitiesOfWindows) {
  const Pipeline pipeline = make(Head::kToken, 3);
  TokenOptions whole, windows;
  whole.entities = windows.entities = {.aggregation = Aggregation::kNone, .ignored = {}};
  windows.rules.long_text = LongText::kWindow;
  windows.rules.encode.max_tokens = 10;
  windows.rules.stride = 2;
  expect_same(pipeline, plan_ner(pipeline, kMore, whole), ner(pipeline, kMore, whole),
              plan_ner(pipeline, kMore, windows), ner(pipeline, kMore, windows), [](const TokenAnswer& answer) {
                return json_text(to_json(answer, std::string(kMore[0].text), OffsetUnit::kBytes, false));
              });
}

TEST_F(Plans, AnswersOfContexts) {
  const Pipeline pipeline = make(Head::kSpan, 2);
  const std::string context = "Mary wrote it in 1818 . Her husband wrote the preface . It was read by many .";
  const std::vector<TextInput> questions = {{"Who wrote it?", context}, {"When?", "In 1818 ."}};
  QuestionOptions options;
  options.rules.encode.max_tokens = 24;
  options.rules.stride = 4;
  expect_same(pipeline, plan_qa(pipeline, questions, options), qa(pipeline, questions, options),
              plan_qa(pipeline, questions, {}), qa(pipeline, questions, {}), [&](const QuestionAnswer& answer) {
                return json_text(to_json(answer, context, OffsetUnit::kBytes, true));
              });
}

TEST_F(Plans, MasksAndReplacedPieces) {
  const Pipeline masked = make(Head::kMaskedLm, 0);
  const std::vector<TextInput> texts = {{"a [MASK] of [MASK] words"}, {"one [MASK]"}};
  FillOptions two;
  two.top_k = 2;
  expect_same(masked, plan_fill(masked, texts, {}), fill(masked, texts, {}), plan_fill(masked, texts, two),
              fill(masked, texts, two), [](const FillAnswer& answer) { return json_text(to_json(answer)); });
  const Pipeline replaced = make(Head::kReplacedToken, 0);
  expect_same(replaced, plan_detect(replaced, kMore, {}), detect(replaced, kMore, {}), plan_detect(replaced, kFew, {}),
              detect(replaced, kFew, {}), [](const ReplacedAnswer& answer) {
                return json_text(to_json(answer, std::string(kMore[0].text), OffsetUnit::kBytes, 0.5));
              });
}

TEST_F(Plans, VectorsAndTheirCosines) {
  const Pipeline pipeline = make(Head::kNone, 0);
  const auto columns = embedding_columns(pipeline);
  EmbeddingOptions tokens;
  tokens.pools = false;
  expect_same(pipeline, plan_embed(pipeline, kMore, {}), embed(pipeline, kMore, {}), plan_embed(pipeline, kFew, tokens),
              embed(pipeline, kFew, tokens),
              [&](const EmbeddingAnswer& answer) { return json_text(to_json(answer, columns, false)); });
  const std::vector<TextInput> pairs = {{"a", "b"}, {"it rains", "it is wet"}};
  expect_same(pipeline, plan_similarity(pipeline, pairs, {}), similarity(pipeline, pairs, {}),
              plan_similarity(pipeline, pairs, {}), similarity(pipeline, pairs, {}),
              [](const SimilarityAnswer& answer) { return json_text(to_json(answer)); });
}

}  // namespace
}  // namespace deberta
