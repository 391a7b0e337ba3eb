#include "analysis/head_figures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deberta::head_figures_test {
namespace {

// One layer of two heads and three tokens: the first head reads each token's own place, the second all alike.
AttentionTerms made_terms() {
  AttentionTerms terms{2, 3, {}};
  LayerTerms& layer = terms.layers.emplace_back();
  layer.layer = 1;
  layer.softmax_HLL = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  layer.softmax_HLL.resize(18, 1.0f / 3);
  layer.c2c_HLL = {0, 0, 3, 0, 0, 3, 0, 0, 3, 5, 5, 5, 7, 7, 7, 9, 9, 9};
  layer.c2p_HLL = {3, 0, 0, 3, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1};
  return terms;
}

TEST(HeadFigures, AreThoseOfTheWeightsAndTheTerms) {
  const std::vector<HeadFigures> all = head_figures(made_terms());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].layer, 1);
  EXPECT_EQ(all[1].head, 1u);
  EXPECT_EQ(all[0].entropy, 0);
  EXPECT_EQ(all[0].distance, 0);
  EXPECT_NEAR(all[0].first, 1.0 / 3, 1e-7);
  EXPECT_NEAR(all[1].entropy, std::log(3.0), 1e-6);
  EXPECT_NEAR(all[1].distance, 8.0 / 9, 1e-6);
  EXPECT_NEAR(all[0].c2c, 0.5, 1e-12);
  EXPECT_NEAR(all[0].c2p, 0.5, 1e-12);
  EXPECT_EQ(all[0].p2c, 0);  // the model has none
  EXPECT_EQ(all[1].c2c, 0);  // the same for all keys
  EXPECT_EQ(all[1].c2p, 1);
}

TEST(HeadFigures, ThumbnailsAreMeansOfParts) {
  const Thumbnails whole = thumbnails(made_terms(), 40);
  EXPECT_EQ(whole.size, 3u);
  EXPECT_EQ(std::vector<uint8_t>(whole.pixels.begin(), whole.pixels.begin() + 9),
            (std::vector<uint8_t>{255, 0, 0, 0, 255, 0, 0, 0, 255}));
  const Thumbnails small = thumbnails(made_terms(), 2);  // rows 0 and 1 are one part, row 2 the other
  ASSERT_EQ(small.pixels.size(), 8u);
  EXPECT_EQ(std::vector<uint8_t>(small.pixels.begin(), small.pixels.begin() + 4),
            (std::vector<uint8_t>{128, 0, 0, 255}));
  EXPECT_EQ(small.pixels[5], 255);
}

}  // namespace
}  // namespace deberta::head_figures_test
