// From log-probabilities of masked tokens to perplexities.
#include "decode/text_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"

namespace deberta::text_score_test {
namespace {

TEST(LogProbability, IsThatOfTheSoftmax) {
  const float logits[] = {1, 2, 3};
  EXPECT_NEAR(log_probability(logits, 1), 2 - std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)), 1e-12);
  const float far[] = {-300, 400};
  EXPECT_NEAR(log_probability(far, 0), -700, 1e-9);
}

TEST(LogProbability, RefusesWhatIsNoNumber) {
  const float logits[] = {1, std::numeric_limits<float>::infinity()};
  EXPECT_ERROR(log_probability(logits, 0), kNotFinite, "a logit is NaN or infinite");
}

TEST(SumUp, PerplexityIsByPiecesAndByWords) {
  TextScoreAnswer answer;
  for (const float x : {-1.0f, -2.0f, -3.0f, -2.0f}) answer.pieces.push_back({0, {}, {}, x});
  sum_up(answer, 2);
  EXPECT_DOUBLE_EQ(answer.log_probability, -8);
  EXPECT_DOUBLE_EQ(answer.perplexity, std::exp(2.0));
  EXPECT_DOUBLE_EQ(answer.word_perplexity, std::exp(4.0));
  TextScoreAnswer nothing;
  sum_up(nothing, 0);
  EXPECT_EQ(nothing.perplexity, 1);
}

TEST(SumUp, RefusesAPerplexityThatNoFloatHolds) {
  TextScoreAnswer answer;
  answer.pieces.assign(10, {0, {}, {}, -8.8f});
  sum_up(answer, 1);
  EXPECT_NEAR(answer.word_perplexity, std::exp(88.0), 1e33);
  answer.pieces.push_back({0, {}, {}, -0.8f});
  EXPECT_ERROR(sum_up(answer, 1), kNotFinite,
               "word_perplexity: expected at most 3.4e+38, the largest float, got exp(88.8)");
}

}  // namespace
}  // namespace deberta::text_score_test
