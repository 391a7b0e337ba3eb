// Normalised answers and their overlap; SQuAD's two scripts; ReCoRD.
#include "metrics/answer_metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "metrics/answer_evaluation.h"

namespace deberta::answer_metrics_test {
namespace {

TEST(AnswerMetrics, CasePunctuationArticlesAndWhiteSpaceGo) {
  EXPECT_EQ(normalize_answer("  The  \"Cat's\" A-team,\tan\u00A0APPLE! "), "cats ateam apple");
  EXPECT_EQ(normalize_answer("the a an"), "");
  EXPECT_EQ(normalize_answer("theatre banana"), "theatre banana");
  EXPECT_EQ(normalize_answer("$1,000.50 (US)"), "100050 us");
  EXPECT_EQ(normalize_answer("\u2018quoted\u2019 \u2013 dash"), "\u2018quoted\u2019 \u2013 dash")
      << "only the punctuation of ASCII";
  EXPECT_EQ(normalize_answer(""), "");
  EXPECT_EQ(normalize_answer("a_the"), "athe") << "the underscore goes before words are looked at";
}

TEST(AnswerMetrics, ArticlesEndWherePythonsWordsEnd) {
  EXPECT_EQ(normalize_answer("the\u2013a"), "\u2013");
  EXPECT_EQ(normalize_answer("a\u00E9 \u00E9"
                             "the"),
            "a\u00E9 \u00E9"
            "the");
  EXPECT_EQ(normalize_answer("a\u0301"), "\u0301") << "a mark is no letter";
  EXPECT_EQ(normalize_answer("a\u00B2 the\u2167"), "a\u00B2 the\u2177") << "numbers of all kinds are of the word";
}

TEST(AnswerMetrics, LowerCaseIsThatOfUnicode) {
  EXPECT_EQ(normalize_answer("\u00C9COLE \u0130"), "\u00E9cole i\u0307");
  EXPECT_EQ(normalize_answer("\u039F\u0394\u039F\u03A3"), "\u03BF\u03B4\u03BF\u03C2") << "a sigma at the end of a word";
  EXPECT_EQ(normalize_answer("\u03A3 \u03A3\u0391 \u0391\u03A3."), "\u03C3 \u03C3\u03B1 \u03B1\u03C2");
}

TEST(AnswerMetrics, WordsCountAsOftenAsTheyOccur) {
  const AnswerScore score = score_answer("blue blue cat", "the blue cat cat", EmptyRule::kEqual);
  EXPECT_EQ(score.exact, 0);
  EXPECT_DOUBLE_EQ(score.f1, 2.0 / 3);  // two common words, three in each text
  EXPECT_EQ(score_answer("The Cat.", "cat", EmptyRule::kNoWords).exact, 1);
}

TEST(AnswerMetrics, EmptyAnswersInBothScripts) {
  EXPECT_DOUBLE_EQ(score_answer("", "", EmptyRule::kEqual).f1, 1);
  EXPECT_DOUBLE_EQ(score_answer("the", "a", EmptyRule::kEqual).f1, 1);
  EXPECT_DOUBLE_EQ(score_answer("", "cat", EmptyRule::kEqual).f1, 0);
  EXPECT_DOUBLE_EQ(score_answer("the", "a", EmptyRule::kNoWords).f1, 0);
  EXPECT_DOUBLE_EQ(score_answer("the", "a", EmptyRule::kNoWords).exact, 1);
}

std::string text_of(const std::vector<Metric>& metrics) {
  std::string text;
  for (const Metric& metric : metrics)
    text += fmt::format("{}={} ", metric.name, metric.value ? fmt::format("{:.4g}", *metric.value) : "none");
  return text;
}

TEST(AnswerEvaluation, TheBestOfTheGoldAnswersCountsAndAMissingOneIsWrong) {
  const std::vector<AnswerOutcome> outcomes = {
      {"big cat", {"a cat", "the big cat"}}, {"dog", {"a cat", "dog house"}}, {std::nullopt, {"x"}}, {"x", {}}};
  EXPECT_EQ(text_of(evaluate(*make_evaluation(outcomes, {"f1", "exact_match"}), {.samples = 0})),
            "f1=41.67 exact_match=25 ");
}

// Five questions: two answered correctly, one of them unanswerable; one wrongly; one half correctly; one unanswerable
// but answered.
std::vector<NullableOutcome> nullable_outcomes() {
  return {
      {"cat", {"the cat"}, 0.1}, {"", {}, 0.9}, {"dog", {"cat"}, 0.2}, {"cat dog", {"cat"}, 0.3}, {"fish", {}, 0.8}};
}

TEST(NullableEvaluation, QuestionsWithAndWithoutAnswerAreAlsoCountedApart) {
  EXPECT_EQ(text_of(evaluate(*make_evaluation(nullable_outcomes(), {}), {.samples = 0})),
            "exact=40 f1=53.33 total=5 HasAns_exact=33.33 HasAns_f1=55.56 HasAns_total=3 NoAns_exact=50 NoAns_f1=50 "
            "NoAns_total=2 ");
}

TEST(NullableEvaluation, AboveTheThresholdNothingIsTheAnswer) {
  EXPECT_EQ(text_of(evaluate(*make_evaluation(nullable_outcomes(), {.threshold = 0.25}), {.samples = 0})),
            "exact=60 f1=60 total=5 HasAns_exact=33.33 HasAns_f1=33.33 HasAns_total=3 NoAns_exact=100 NoAns_f1=100 "
            "NoAns_total=2 ");
}

TEST(NullableEvaluation, TheBestThresholdsAreFound) {
  const auto metrics = evaluate(*make_evaluation(nullable_outcomes(), {.finds_thresholds = true}), {.samples = 0});
  const std::string text = text_of({metrics.end() - 4, metrics.end()});
  EXPECT_EQ(text, "best_exact=60 best_exact_thresh=0.1 best_f1=73.33 best_f1_thresh=0.3 ");
}

TEST(NullableEvaluation, EquallySureQuestionsAreTriedInTheOrderOfTheFile) {
  const std::vector<NullableOutcome> outcomes = {{"x", {}, 0.5}, {"cat", {"cat"}, 0.5}, {"dog", {"dog"}, 0.7}};
  const auto threshold = [&](std::vector<size_t> order) {
    const NullableRules rules{.finds_thresholds = true, .order = std::move(order)};
    const auto metrics = evaluate(*make_evaluation(outcomes, rules), {.samples = 0});
    EXPECT_DOUBLE_EQ(*metrics[9].value, 200.0 / 3);
    return *metrics[10].value;
  };
  EXPECT_EQ(threshold({0, 1, 2}), 0.7);
  EXPECT_EQ(threshold({1, 2, 0}), 0.5);
}

TEST(NullableEvaluation, AQuestionWithoutPredictionIsLeftOut) {
  std::vector<NullableOutcome> outcomes = nullable_outcomes();
  outcomes[2].predicted.reset();
  const auto metrics = evaluate(*make_evaluation(outcomes, {}), {.samples = 0});
  EXPECT_EQ(metrics[2].value, 4);
  EXPECT_EQ(metrics[0].value, 50);
}

TEST(NullableEvaluation, AnAnswerOfArticlesAloneIsAnEmptyOne) {
  EXPECT_EQ(
      evaluate(*make_evaluation(std::vector<NullableOutcome>{{"the", {"a", "an"}, 0}}, {}), {.samples = 0})[1].value,
      100);
}

TEST(NullableEvaluation, APartWithoutQuestionsHasNoValue) {
  const auto metrics = evaluate(*make_evaluation(std::vector<NullableOutcome>{{"x", {"x"}, 0}}, {}), {});
  EXPECT_FALSE(metrics[6].value);
  EXPECT_EQ(metrics[6].note, "no questions");
  EXPECT_FALSE(metrics[6].low);
  EXPECT_EQ(metrics[0].low, 100);
}

}  // namespace
}  // namespace deberta::answer_metrics_test
