// SQuAD against predictions and against a model.
#include "eval/questions.h"

#include <gtest/gtest.h>

#include <string>

#include "eval/eval_case.h"
#include "support/expect_error.h"

namespace deberta::questions_test {
namespace {

std::string squad(const std::string& questions) {
  return R"({"version": "2", "data": [{"title": "", "paragraphs": [{"context": "The cat sat .", "qas": [)" + questions +
         "]}]}]}";
}
const std::string kWho = R"({"id": "a", "question": "Who?", "answers": [{"text": "The cat", "answer_start": 0}]})";
const std::string kWhat = R"({"id": "b", "question": "What?", "answers": [{"text": "sat", "answer_start": 8}]})";
const std::string kWhy = R"({"id": "c", "question": "Why?", "is_impossible": true, "answers": []})";
const std::string kWrong = R"({"id": "d", "question": "How?", "answers": [{"text": "sat", "answer_start": 0}]})";

class Questions : public test::EvalCase {
 protected:
  QuestionSettings settings(const std::string& questions, const std::string& predictions) {
    QuestionSettings settings{.files = {write("dev.json", squad(questions))}};
    if (!predictions.empty()) settings.predictions = write("answers.json", predictions);
    return settings;
  }
  const TaskRow& squad_ = find_task("squad");
  const TaskRow& squad2_ = find_task("squad2");
};

TEST_F(Questions, PredictionsGoByIdAndOneThatIsMissingIsWrong) {
  const AnsweredRows rows = answer_questions(squad_, settings(kWho + "," + kWhat, R"({"a": "a cat"})"), {}, hooks());
  EXPECT_EQ(rows.result.unanswered, 1u);
  const EvalResult result = score(rows, {.samples = 0});
  EXPECT_EQ(value(result, "exact_match"), 50);
  EXPECT_EQ(result.rows, 2u);
}

TEST_F(Questions, AQuestionWithoutAnswerIsOfAnotherTask) {
  EXPECT_ERROR(answer_questions(squad_, settings(kWhy, "{}"), {}), kInput,
               "dev.json: question \"c\" has no answer; use task=squad2");
}

TEST_F(Questions, ABadQuestionFailsBeforeTheModelIsOpened) {
  EXPECT_ERROR(answer_questions(squad_, settings(kWho + "," + kWrong, ""), model(Head::kSpan), hooks()), kInput,
               "on_bad_row=report counts the other rows");
  EXPECT_EQ(opened_, 0u);
  const AnsweredRows rows =
      answer_questions(squad_, settings(kWho + "," + kWrong, R"({"a": "the cat"})"), {}, hooks(BadRows::kReport));
  EXPECT_EQ(bad_.size(), 1u);
  EXPECT_EQ(rows.result.failed, 1u);
  EXPECT_EQ(value(score(rows, {.samples = 0}), "exact_match"), 100);
}

// Where "no answer" is above the threshold, it is the answer. The default for probabilities is 1.
TEST_F(Questions, AProbabilityAboveTheThresholdIsNoAnswer) {
  QuestionSettings sure = settings(kWho + "," + kWhy, R"({"a": "the cat", "c": "sat"})");
  EXPECT_EQ(value(score(answer_questions(squad2_, sure, {}), {.samples = 0}), "exact"), 50);
  sure.na_prob = write("na.json", R"({"a": 0.25, "c": 0.75})");
  const EvalResult as_they_are = score(answer_questions(squad2_, sure, {}), {.samples = 0});
  EXPECT_EQ(value(as_they_are, "exact"), 50);
  EXPECT_EQ(value(as_they_are, "best_exact"), 100);
  sure.no_answer_threshold = 0.5;
  EXPECT_EQ(value(score(answer_questions(squad2_, sure, {}), {.samples = 0}), "exact"), 100);
}

// For a model the default threshold is 0, and the windows are those of the papers. With this seed, some margins lie
// between 0 and 1.
TEST_F(Questions, AModelHasTheThresholdAndTheSettingsOfThePapers) {
  std::string questions = kWhy;
  for (size_t i = 0; i < 40; ++i)
    questions += R"(, {"id": ")" + std::to_string(i) + R"(", "question": "Who )" + std::string(i, 'x') +
                 R"(?", "answers": [{"text": "cat", "answer_start": 4}]})";
  QuestionSettings of_a_model = settings(questions, "");
  const OpenModel open = model(Head::kSpan, {}, 17);
  const auto answers_above = [&](double threshold) {
    QuestionSettings with_threshold = of_a_model;
    with_threshold.no_answer_threshold = threshold;
    return written(answer_questions(squad2_, with_threshold, open, hooks()));
  };
  const AnsweredRows rows = answer_questions(squad2_, of_a_model, open, hooks());
  EXPECT_EQ(
      Json(rows.result.settings).dump(),
      R"({"max-tokens": 384, "doc-stride": 128, "max-question-len": 64, "max-answer-len": 30, "align": "tokens", )"
      R"("n-best": "all spans"})");
  ASSERT_NE(answers_above(0), answers_above(1));
  EXPECT_EQ(written(rows), answers_above(0));
  const EvalResult result = score(rows, {.samples = 0});
  EXPECT_GE(value(result, "best_f1"), value(result, "f1"));
  of_a_model.no_answer_threshold = -1e9;
  EXPECT_EQ(value(score(answer_questions(squad2_, of_a_model, open), {.samples = 0}), "NoAns_f1"), 100);
}

TEST_F(Questions, ARunThatIsStoppedHasNoResult) {
  is_stopped_ = true;
  EXPECT_THROW(answer_questions(squad_, settings(kWho, R"({"a": "x"})"), {}, hooks()), EvalStopped);
}

}  // namespace
}  // namespace deberta::questions_test
