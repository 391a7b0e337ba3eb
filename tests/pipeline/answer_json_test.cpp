// The JSON form of each answer, as docs/reference/output.md describes it.
#include "pipeline/answer_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace deberta::answer_json_test {
namespace {

std::string text_of(JsonObject object) {
  return Json(std::move(object)).dump();
}

TEST(AnswerJson, LabelsComeBestFirst) {
  EXPECT_EQ(
      text_of(to_json(SequenceAnswer{.labels = {{"yes", 0.75F}, {"no", 0.25F}}, .scores = {0.25F, 0.75F}})),
      R"({"label": "yes", "score": 0.75, "labels": [{"label": "yes", "score": 0.75}, {"label": "no", "score": 0.25}]})");
  EXPECT_EQ(
      text_of(to_json(EntailmentAnswer{.label = "neutral", .relations = {{"entailment", 0.25F}, {"neutral", 0.5F}}})),
      R"({"label": "neutral", "entailment": 0.25, "neutral": 0.5})");
  EXPECT_EQ(text_of(to_json(ZeroShotAnswer{.labels = {{"b", 0.5F}, {"a", 0.25F}}, .scores = {0.25F, 0.5F}}, "text")),
            R"({"sequence": "text", "labels": ["b", "a"], "scores": [0.5, 0.25]})");
}

// "😀 Ada": one code point, four bytes and two units of UTF-16 before the space.
TEST(AnswerJson, OffsetsAreInTheUnitAskedFor) {
  const std::string text = "\xF0\x9F\x98\x80 Ada";
  TokenAnswer answer;
  answer.entities.push_back(
      {.label = "PER", .score = 0.5F, .first_token = 2, .last_token = 2, .chars = {2, 5}, .bytes = {5, 8}});
  const auto entity = [&](OffsetUnit unit, bool is_grouped) {
    return text_of(to_json(answer, text, unit, is_grouped));
  };
  EXPECT_EQ(entity(OffsetUnit::kChars, true),
            R"({"entities": [{"entity_group": "PER", "score": 0.5, "word": "Ada", "start": 2, "end": 5}]})");
  EXPECT_EQ(entity(OffsetUnit::kBytes, true),
            R"({"entities": [{"entity_group": "PER", "score": 0.5, "word": "Ada", "start": 5, "end": 8}]})");
  EXPECT_EQ(entity(OffsetUnit::kUtf16, false),
            R"({"entities": [{"entity": "PER", "score": 0.5, "word": "Ada", "start": 3, "end": 6, "index": 2}]})");
}

TEST(AnswerJson, AContextWithoutASpanHasTheEmptyAnswer) {
  QuestionAnswer answer;
  answer.null_score = 1;
  EXPECT_EQ(text_of(to_json(answer, "", OffsetUnit::kChars, false)),
            R"({"answer": "", "score": 1.0, "start": 0, "end": 0})");
  answer.answers = {{.text = "Ada", .score = 0.5F, .logit = 3, .chars = {0, 3}, .bytes = {0, 3}}};
  EXPECT_EQ(
      text_of(to_json(answer, "Ada", OffsetUnit::kChars, true)),
      R"({"answer": "Ada", "score": 0.5, "start": 0, "end": 3, "answers": [{"answer": "Ada", "score": 0.5, "start": 0, "end": 3}]})");
}

TEST(AnswerJson, ChoicesAndDocumentsAreNamedByIndex) {
  const std::vector<std::string> texts{"wet", "dry"};
  EXPECT_EQ(text_of(to_json(ChoiceAnswer{.index = 1, .scores = {0.25F, 0.75F}, .logits = {}}, texts)),
            R"({"index": 1, "choice": "dry", "scores": [0.25, 0.75]})");
  const RankAnswer ranked{.documents = {{1, 0.75F, 1.1F}, {0, 0.25F, -1.1F}}};
  EXPECT_EQ(
      text_of(to_json(ranked, "q", texts, true)),
      R"({"query": "q", "results": [{"index": 1, "score": 0.75, "text": "dry"}, {"index": 0, "score": 0.25, "text": "wet"}]})");
  EXPECT_EQ(text_of(to_json(ranked, "q", texts, false)),
            R"({"query": "q", "results": [{"index": 1, "score": 0.75}, {"index": 0, "score": 0.25}]})");
}

TEST(AnswerJson, VectorsAreRowsOfColumns) {
  const EmbeddingAnswer answer{.vectors = {1, 2, 3, 4}};
  EXPECT_EQ(text_of(to_json(answer, 4, true)), R"({"embedding": [1.0, 2.0, 3.0, 4.0]})");
  EXPECT_EQ(text_of(to_json(answer, 2, false)), R"({"token_embeddings": [[1.0, 2.0], [3.0, 4.0]]})");
  EXPECT_EQ(text_of(to_json(SimilarityAnswer{.cosines = {0.5F}})), R"({"similarity": 0.5})");
}

TEST(AnswerJson, MasksListTheirTokens) {
  FillAnswer answer;
  answer.masks.push_back(
      {.position = 3,
       .tokens = {
           {.token = 7, .piece = "_Rome", .token_str = "Rome", .score = 0.5F, .logit = 2, .sequence = "It is Rome."}}});
  EXPECT_EQ(
      text_of(to_json(answer)),
      R"({"masks": [{"position": 3, "tokens": [{"token_str": "Rome", "token": 7, "piece": "_Rome", "score": 0.5, "logit": 2.0, "sequence": "It is Rome."}]}]})");
}

TEST(AnswerJson, APieceAtTheThresholdIsReplaced) {
  ReplacedAnswer answer;
  answer.pieces = {{.token = 5, .piece = "a", .chars = {0, 1}, .bytes = {0, 1}, .logit = 0, .score = 0.5F}};
  EXPECT_EQ(
      text_of(to_json(answer, "a", OffsetUnit::kChars, 0.5)),
      R"({"tokens": [{"piece": "a", "token": 5, "score": 0.5, "logit": 0.0, "replaced": true, "start": 0, "end": 1}]})");
  EXPECT_NE(text_of(to_json(answer, "a", OffsetUnit::kChars, 0.6)).find(R"("replaced": false)"), std::string::npos);
}

TEST(AnswerJson, AWindowHasItsPlaceAndItsLabels) {
  const SequenceAnswer answer{.labels = {{"yes", 0.75F}},
                              .scores = {0.75F},
                              .windows = {{.chars = {3, 9}, .bytes = {4, 11}, .labels = {{"yes", 0.5F}}}}};
  EXPECT_EQ(
      text_of(to_json(answer)),
      R"({"label": "yes", "score": 0.75, "labels": [{"label": "yes", "score": 0.75}], "windows": [{"start": 3, "end": 9, "labels": [{"label": "yes", "score": 0.5}]}]})");
}

TEST(AnswerJson, MarksSayWhatIsSoAndNothingElse) {
  const auto marked = [](const TextMarks& marks) {
    JsonObject object{{"label", "yes"}};
    add_marks(marks, object);
    return text_of(std::move(object));
  };
  EXPECT_EQ(marked({}), R"({"label": "yes"})");
  EXPECT_EQ(marked({.cut_tokens = 3}), R"({"label": "yes", "cut_tokens": 3})");
  EXPECT_EQ(marked({.cut_tokens = 3, .is_of_empty_text = true}), R"({"label": "yes", "cut_tokens": 3, "empty": true})");
  const std::vector<std::string> texts{" ", "dry"};
  const RankAnswer ranked{.documents = {{0, 0.75F, 1.1F}, {1, 0.25F, -1.1F, 2}}};
  EXPECT_EQ(
      text_of(to_json(ranked, "q", texts, false)),
      R"({"query": "q", "results": [{"index": 0, "score": 0.75, "empty": true}, {"index": 1, "score": 0.25, "cut_tokens": 2}]})");
}

TEST(AnswerJson, ATextOfNothingIsEmpty) {
  const std::vector<std::string> items{"a"};
  EXPECT_TRUE(is_of_empty_text({.text = " "}, 5));
  EXPECT_TRUE(is_of_empty_text({.text = "\xE2\x80\x8B"}, 2));  // the tokens around it alone
  EXPECT_FALSE(is_of_empty_text({.text = "a"}, 3));
  EXPECT_TRUE(is_of_empty_text({.text = "a", .pair = " "}, 5));
  EXPECT_FALSE(is_of_empty_text({.text = "a", .pair = " ", .items = items}, 5));  // the question of choices
  EXPECT_FALSE(is_of_empty_text({.text = "a"}, 1, 0));
}

}  // namespace
}  // namespace deberta::answer_json_test
