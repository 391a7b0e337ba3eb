// Quantiles of scores, by hand.
#include <gtest/gtest.h>

#include "deberta/analysis.h"

namespace deberta::term_quantiles_test {
namespace {

// One layer, two heads, two tokens.
AttentionTerms made_terms() {
  AttentionTerms terms{2, 2, {}};
  LayerTerms& layer = terms.layers.emplace_back();
  layer.layer = 3;
  layer.c2c_HLL = {4, 1, 3, 2, 5, 5, 5, 5};
  layer.p2c_HLL = {0, 0, 0, 8, -1, -2, -3, -4};
  layer.sum_HLL = {4, 1, 3, 10, 4, 3, 2, 1};
  return terms;
}

TEST(TermQuantiles, LieBetweenTheSortedScoresOfAHead) {
  const std::vector<HeadQuantiles> all = term_quantiles(made_terms());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].layer, 3);
  EXPECT_EQ(all[1].head, 1u);
  EXPECT_EQ(all[0].c2c.low, 1);
  EXPECT_EQ(all[0].c2c.lower, 1.75);
  EXPECT_EQ(all[0].c2c.median, 2.5);
  EXPECT_EQ(all[0].c2c.upper, 3.25);
  EXPECT_EQ(all[0].c2c.high, 4);
  EXPECT_EQ(all[1].c2c.low, 5);
  EXPECT_EQ(all[1].c2c.high, 5);
  EXPECT_EQ(all[0].sum.high, 10);
}

TEST(TermQuantiles, OfATermThatTheModelLacksAreNone) {
  const std::vector<HeadQuantiles> all = term_quantiles(made_terms());
  EXPECT_FALSE(all[0].c2p.has_value());
  ASSERT_TRUE(all[1].p2c.has_value());
  EXPECT_EQ(all[1].p2c->low, -4);
  EXPECT_EQ(all[1].p2c->median, -2.5);
}

}  // namespace
}  // namespace deberta::term_quantiles_test
