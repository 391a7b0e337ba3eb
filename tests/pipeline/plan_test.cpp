// Plans: their sequences may run in any order and beside those of other plans, and the answers keep their bits.
#include "pipeline/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "decode/text_score.h"
#include "pipeline/answer_json.h"
#include "pipeline/entity.h"
#include "pipeline/packer.h"
#include "pipeline/predicted_pieces.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::plan_test {
namespace {

class Plans : public testing::Test {
 protected:
  Pipeline make(Head head, int64_t classes) {
    std::vector<std::string> labels = {"contradiction", "neutral", "entailment"};
    labels.resize(static_cast<size_t>(classes));
    return test::tiny_pipeline(folder_, head, std::move(labels), classes);
  }
  // With positions for the mask decoder.
  Pipeline make_masked() {
    ModelConfig config = test::tiny_config();
    config.max_position_embeddings = 64;
    return test::tiny_pipeline(folder_, config, Head::kMaskedLm, 0);
  }
  Pipeline make_causal() {
    ModelConfig config = test::tiny_config();
    config.is_causal = true;
    return test::tiny_pipeline(folder_, config, Head::kMaskedLm, 0);
  }
  test::TemporaryFolder folder_;
};

// As a server might run them: from the last to the first, those of both plans by turns, three to a pack, and each pack
// again, as if it had failed half-way.
void run_mixed(const Model& model, const SequencePlan& a, const SequencePlan& b) {
  std::vector<PlannedSequence> all;
  for (size_t left = std::max(a.sequences.size(), b.sequences.size()); left > 0; --left) {
    if (left <= a.sequences.size()) all.push_back({&a, left - 1});
    if (left <= b.sequences.size()) all.push_back({&b, left - 1});
  }
  ForwardResult result;
  for (size_t at = 0; at < all.size(); at += 3) {
    for (int time = 0; time < 2; ++time)
      run_pack(model, std::span(all).subspan(at, std::min<size_t>(3, all.size() - at)), result);
  }
}

template <class Answer, class ToText>
void expect_same(const Pipeline& pipeline, const Planned<Answer>& first, const std::vector<Answer>& expected_one,
                 const Planned<Answer>& other, const std::vector<Answer>& expected_other, const ToText& to_text) {
  ASSERT_GT(first.plan.sequences.size() + other.plan.sequences.size(), 3u);
  run_mixed(pipeline.model, first.plan, other.plan);
  const std::vector<Answer> ones = first.finish(), other_answers = other.finish();
  ASSERT_EQ(ones.size(), expected_one.size());
  ASSERT_EQ(other_answers.size(), expected_other.size());
  for (size_t i = 0; i < ones.size(); ++i) EXPECT_EQ(to_text(ones[i]), to_text(expected_one[i]));
  for (size_t i = 0; i < other_answers.size(); ++i) EXPECT_EQ(to_text(other_answers[i]), to_text(expected_other[i]));
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

// A server's batch knows tokens alone.
TEST_F(Plans, RunInAsManyPacksAsTheyNeed) {
  const Pipeline pipeline = make(Head::kSequence, 3);
  Planned<SequenceAnswer> planned = plan_classify(pipeline, kMore, {});
  const Planned<SequenceAnswer> other = plan_classify(pipeline, kFew, {});
  const std::vector<PlannedSequence> pack = {{&other.plan, 0},   {&other.plan, 1},   {&other.plan, 0},
                                             {&planned.plan, 0}, {&planned.plan, 1}, {&planned.plan, 2}};
  ForwardResult result;
  run_pack(pipeline.model, pack, result);
  EXPECT_EQ(result.logits_rows, pack.size());
  const std::vector<SequenceAnswer> together = planned.finish();
  planned.plan.most_in_pack = 2;
  run_pack(pipeline.model, pack, result);
  EXPECT_EQ(result.logits_rows, 1u) << "three, two and one";
  const std::vector<SequenceAnswer> apart = planned.finish();
  for (size_t i = 0; i < kMore.size(); ++i) EXPECT_EQ(apart[i].scores, together[i].scores);
}

TEST_F(Plans, CandidatesOfSeveralTexts) {
  const Pipeline pipeline = make(Head::kSequence, 3);
  ZeroShotOptions first, other;
  first.labels = {"sports", "politics"};
  other.labels = {"red", "green", "blue"};
  other.is_multi_label = true;
  expect_same(pipeline, plan_zero_shot(pipeline, kMore, first), zero_shot(pipeline, kMore, first),
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
  const Pipeline masked = make_masked();
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

const std::vector<TextInput> kTexts = {{"a house of cards"}, {"so"}, {"word by word it goes on and on"}};

std::string score_text_of(const TextScoreAnswer& answer) {
  std::string text = json_text(to_json(answer));
  for (const TextScoreAnswer::Token& piece : answer.pieces)
    text += " " + std::to_string(piece.bytes.begin) + " " + Json(piece.log_probability).dump();
  return text;
}

TEST_F(Plans, MaskedCopiesOfTexts) {
  const Pipeline pipeline = make_masked();
  EncodingRules small;
  small.batch_tokens = 16;
  const std::vector<TextInput> reversed(kTexts.rbegin(), kTexts.rend());
  expect_same(pipeline, plan_score(pipeline, kTexts, {}), score_text(pipeline, kTexts, small),
              plan_score(pipeline, reversed, {}), score_text(pipeline, reversed, {}), score_text_of);
}

// A copy by itself, with the token masked that it is for.
TEST_F(Plans, AScoreIsThatOfItsCopiesOneByOne) {
  const Pipeline pipeline = make_masked();
  const std::vector<TextScoreAnswer> answers = score_text(pipeline, kTexts);
  for (size_t text = 0; text < kTexts.size(); ++text) {
    const Encoding encoding = pipeline.tokenizer.encode(kTexts[text].text);
    ASSERT_EQ(answers[text].pieces.size(), encoding.size() - 2);
    double sum = 0;
    for (size_t i = 1; i + 1 < encoding.size(); ++i) {
      std::vector<int32_t> ids = encoding.ids;
      ids[i] = pipeline.tokenizer.special().mask;
      Batch batch;
      batch.add(ids, encoding.type_ids);
      ForwardOptions options;
      options.rows = {static_cast<int32_t>(i)};
      ForwardResult result;
      pipeline.model.forward(batch, options, result);
      const auto expected = static_cast<float>(log_probability(result.logits, encoding.ids[i]));
      EXPECT_EQ(answers[text].pieces[i - 1].log_probability, expected) << text << ": " << i;
      sum += double{expected};
    }
    EXPECT_EQ(answers[text].log_probability, sum);
    EXPECT_EQ(answers[text].tokens, encoding.size());
  }
}

TEST_F(Plans, OfAScoreHoldTheTextsAndNotTheirCopies) {
  const Pipeline pipeline = make_masked();
  const Planned<TextScoreAnswer> planned = plan_score(pipeline, kTexts, {});
  const SequenceSource& sequences = planned.plan.sequences;
  ASSERT_EQ(sequences.encodings().size(), kTexts.size());
  EXPECT_TRUE(sequences.makes_sequences());
  size_t copies = 0;
  for (const Encoding& text : sequences.encodings()) {
    for (size_t i = 0; i + 2 < text.size(); ++i) EXPECT_EQ(sequences.tokens()[copies++], text.size());
  }
  EXPECT_EQ(copies, sequences.size());
  EXPECT_EQ(planned.plan.most_in_pack, most_logit_rows(pipeline.config.vocab_size));
}

std::string outcome_text(const PieceAnswer& answer) {
  return Json(answer.outcome.log_probability).dump() + " " + std::to_string(answer.outcome.pieces) + " " +
         std::to_string(answer.outcome.right) + " " + std::to_string(answer.outcome.words) + " " +
         std::to_string(answer.tokens);
}

TEST_F(Plans, SamplesOfMaskedPieces) {
  const Pipeline pipeline = make_masked();
  const std::vector<size_t> numbers = {4, 0, 7};
  MaskedSampleRules some, all;
  all.share = 1;
  all.rules.batch_tokens = 8;
  expect_same(pipeline, plan_masked_pieces(pipeline, kTexts, numbers, some),
              predict_masked_pieces(pipeline, kTexts, numbers, some),
              plan_masked_pieces(pipeline, kTexts, numbers, all), predict_masked_pieces(pipeline, kTexts, numbers, all),
              outcome_text);
}

TEST_F(Plans, PiecesFromThoseBefore) {
  const Pipeline pipeline = make_causal();
  EncodingRules windows;
  windows.long_text = LongText::kWindow;
  windows.encode.max_tokens = 8;
  windows.stride = 3;
  expect_same(pipeline, plan_next_pieces(pipeline, kTexts, {}), predict_next_pieces(pipeline, kTexts, {}),
              plan_next_pieces(pipeline, kMore, windows), predict_next_pieces(pipeline, kMore, windows), outcome_text);
}

TEST_F(Plans, EntitiesOfPassages) {
  const Pipeline pipeline = make(Head::kTokenOriginal, 1);
  const std::string passage = "Ada met Bob in Rome and Ada left . Bob stayed in Rome and never met Ada again .";
  const std::vector<Offset> entities = {{0, 3}, {8, 11}, {24, 27}};
  const std::vector<EntityQuery> queries = {{passage, "@placeholder met Bob", entities},
                                            {passage, "who left? @placeholder", {}},
                                            {passage, "Ada met @placeholder", entities}};
  EncodingRules windows;
  windows.encode.max_tokens = pipeline.tokenizer.encode(queries[1].query).size() + 12;
  windows.stride = 4;
  windows.batch_tokens = 30;
  EncodingRules whole;
  whole.stride = 16;
  const auto text = [](const EntityScores& scores) {
    return Json(JsonArray(scores.scores.begin(), scores.scores.end())).dump() + " " + std::to_string(scores.tokens);
  };
  expect_same(pipeline, plan_entities(pipeline, queries, windows), score_entities(pipeline, queries, windows),
              plan_entities(pipeline, queries, whole), score_entities(pipeline, queries, whole), text);
}

TEST_F(Plans, OfOneKindAskForTheSameForm) {
  const Pipeline words = make_masked();
  const std::vector<TextInput> texts = {{"a [MASK]"}};
  const uint64_t rows = kind_of(plan_fill(words, texts, {}).plan);
  EXPECT_EQ(kind_of(plan_score(words, texts, {}).plan), rows);
  EmbeddingOptions first;
  first.layer = 1;
  const uint64_t layers[] = {kind_of(plan_embed(words, texts, {}).plan), kind_of(plan_embed(words, texts, first).plan)};
  const Pipeline tokens = make(Head::kTokenOriginal, 1);
  const uint64_t plain = kind_of(plan_ner(tokens, texts, {}).plan);
  const uint64_t mentions = kind_of(plan_entities(tokens, {}, {}).plan);
  EXPECT_EQ((std::set<uint64_t>{rows, layers[0], layers[1], plain, mentions}).size(), 5u);
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
}  // namespace deberta::plan_test
