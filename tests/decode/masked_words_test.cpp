// From logits over the vocabulary to the best tokens.
#include "decode/masked_words.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.h"

namespace deberta::masked_words_test {
namespace {

TEST(RankTokens, ScoresAreOverAllRowsTheOnesWithoutATokenToo) {
  const float logits[] = {0, 1, 2, 5};
  const auto best = rank_tokens(logits, 3, 2);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].id, 2);
  EXPECT_EQ(best[0].logit, 2.0f);
  EXPECT_NEAR(best[0].score, 0.0463204f, 1e-6);  // e^2 / (1 + e + e^2 + e^5)
  EXPECT_EQ(best[1].id, 1);
}

TEST(RankTokens, TiesGoToTheSmallerId) {
  const float logits[] = {1, 3, 3, 3};
  const auto best = rank_tokens(logits, 4, 2);
  EXPECT_EQ(best[0].id, 1);
  EXPECT_EQ(best[1].id, 2);
}

TEST(RankTokens, TargetsAloneAreRankedWithTheirFullProbability) {
  const float logits[] = {0, 1, 2};
  const int32_t targets[] = {0};
  const auto best = rank_tokens(logits, 3, 5, targets);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].id, 0);
  EXPECT_NEAR(best[0].score, 0.0900306f, 1e-6);
}

TEST(RankTokens, LargeLogitsDoNotOverflow) {
  const float logits[] = {3e38f, -3e38f};
  EXPECT_EQ(rank_tokens(logits, 2, 1)[0].score, 1.0f);
}

TEST(RankTokens, ANonFiniteLogitIsAnError) {
  const float logits[] = {0, -std::numeric_limits<float>::infinity()};
  EXPECT_ERROR(rank_tokens(logits, 2, 1), kNotFinite, "infinite");
}

}  // namespace
}  // namespace deberta::masked_words_test
