#include "metrics/piece_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deberta::piece_evaluation_test {
namespace {

Encoding text_of(size_t pieces) {
  Encoding text;
  text.ids.assign(pieces + 2, 7);
  text.is_special.assign(pieces + 2, 0);
  text.is_special.front() = text.is_special.back() = 1;
  return text;
}

TEST(DrawMasks, TakesAboutTheShareAndNeverASpecialToken) {
  size_t drawn = 0;
  for (uint64_t number = 0; number < 100; ++number) {
    for (const size_t position : draw_masks(text_of(100), 0.15, 0, number)) {
      EXPECT_TRUE(position >= 1 && position <= 100);
      ++drawn;
    }
  }
  EXPECT_NEAR(static_cast<double>(drawn), 1500, 5 * std::sqrt(1500 * 0.85));
}

TEST(DrawMasks, DependsOnSeedAndNumberAlone) {
  EXPECT_EQ(draw_masks(text_of(50), 0.15, 3, 4), draw_masks(text_of(50), 0.15, 3, 4));
  EXPECT_NE(draw_masks(text_of(50), 0.15, 3, 4), draw_masks(text_of(50), 0.15, 3, 5));
  EXPECT_NE(draw_masks(text_of(50), 0.15, 3, 4), draw_masks(text_of(50), 0.15, 2, 4));
  EXPECT_NE(draw_masks(text_of(50), 0.15, 3, 4), draw_masks(text_of(50), 0.15, uint64_t{3} << 32, 4));
  EXPECT_EQ(draw_masks(text_of(3), 1, 0, 0), (std::vector<size_t>{1, 2, 3}));
}

TEST(DrawMasks, TakesOneWhereNoneWasDrawn) {
  std::vector<size_t> seen(6);
  for (uint64_t number = 0; number < 200; ++number) {
    const std::vector<size_t> masks = draw_masks(text_of(4), 1e-9, 0, number);
    ASSERT_EQ(masks.size(), 1u);
    ++seen[masks[0]];
  }
  EXPECT_EQ(seen[0] + seen[5], 0u);
  for (size_t position = 1; position <= 4; ++position) EXPECT_GT(seen[position], 25u);
  EXPECT_TRUE(draw_masks(text_of(0), 0.5, 0, 0).empty());
}

TEST(PieceEvaluation, CountsPiecesNotTexts) {
  const auto evaluation =
      make_evaluation({{-3.0, 3, 1}, {-1.0, 1, 1}}, {"accuracy", "perplexity"}, PredictedPieces::kMasked);
  const std::vector<Metric> metrics = evaluate(*evaluation, {.samples = 0});
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_EQ(metrics[0].value, 0.5);
  EXPECT_DOUBLE_EQ(*metrics[1].value, std::exp(1.0));
  EXPECT_EQ(metrics[2].name, "masked_pieces");
  EXPECT_EQ(metrics[2].value, 4.0);
}

TEST(PieceEvaluation, OfEveryPieceCountsWordsToo) {
  const auto evaluation = make_evaluation({{-6.0, 5, 1, 2}, {-2.0, 3, 1, 2}},
                                          {"accuracy", "perplexity", "word_perplexity"}, PredictedPieces::kNext);
  const std::vector<Metric> metrics = evaluate(*evaluation, {.samples = 0});
  ASSERT_EQ(metrics.size(), 5u);
  EXPECT_EQ(metrics[0].value, 0.25);
  EXPECT_DOUBLE_EQ(*metrics[1].value, std::exp(1.0));
  EXPECT_DOUBLE_EQ(*metrics[2].value, std::exp(2.0));
  EXPECT_EQ(metrics[3].name, "pieces");
  EXPECT_EQ(metrics[3].value, 8.0);
  EXPECT_EQ(metrics[4].name, "words");
  EXPECT_EQ(metrics[4].value, 4.0);
}

TEST(PieceEvaluation, SaysWhyThereIsNoValue) {
  const auto metrics =
      make_evaluation({{0, 0, 0}}, {"accuracy"}, PredictedPieces::kMasked)->metrics(std::vector<uint32_t>{0});
  EXPECT_FALSE(metrics[0].value);
  EXPECT_EQ(metrics[0].note, "no masked pieces");
}

}  // namespace
}  // namespace deberta::piece_evaluation_test
