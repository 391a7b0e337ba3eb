// Samples and their percentiles; labels, groups and genres.
#include "metrics/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "metrics/label_evaluation.h"
#include "support/expect_error.h"

namespace deberta {
namespace {

TEST(Bootstrap, AUnitIsDrawnAsOftenAsAnother) {
  std::vector<size_t> counts(7);
  for (size_t sample = 0; sample < 2000; ++sample) {
    const auto drawn = draw_units(7, 3, sample);
    ASSERT_EQ(drawn.size(), 7u);
    for (const uint32_t unit : drawn) ++counts.at(unit);
  }
  for (const size_t count : counts) EXPECT_NEAR(static_cast<double>(count), 2000, 160);
}

TEST(Bootstrap, ASampleDependsOnTheSeedAndItsNumberAlone) {
  EXPECT_EQ(draw_units(9, 1, 2), draw_units(9, 1, 2));
  EXPECT_NE(draw_units(9, 1, 2), draw_units(9, 1, 3));
  EXPECT_NE(draw_units(9, 1, 2), draw_units(9, 2, 2));
  EXPECT_NE(draw_units(9, 1, 2), draw_units(9, uint64_t{1} << 32 | 1, 2));
}

TEST(Bootstrap, PercentilesLieBetweenOrderStatistics) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(percentile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.5), 3);
  EXPECT_DOUBLE_EQ(percentile(sorted, 0.9), 4 + 0.7 * 4);
  EXPECT_DOUBLE_EQ(percentile(sorted, 1), 8);
  EXPECT_DOUBLE_EQ(percentile(std::vector<double>{5}, 0.3), 5);
}

ClassOutcomes half_right(size_t rows) {
  ClassOutcomes outcomes;
  for (size_t i = 0; i < rows; ++i) {
    outcomes.gold.push_back(static_cast<int32_t>(i % 2));
    outcomes.predicted.push_back(0);
  }
  return outcomes;
}

TEST(Bootstrap, TheIntervalOfAMeanIsAsWideAsTheNormalOne) {
  const auto metrics = evaluate(*make_evaluation(half_right(400), {"accuracy"}), {.samples = 4000, .seed = 5});
  EXPECT_DOUBLE_EQ(*metrics[0].value, 0.5);
  const double half = 1.96 * std::sqrt(0.25 / 400);
  EXPECT_NEAR(*metrics[0].low, 0.5 - half, 0.005);
  EXPECT_NEAR(*metrics[0].high, 0.5 + half, 0.005);
}

TEST(Bootstrap, WithoutSamplesThereIsNoInterval) {
  size_t calls = 0;
  const auto none =
      evaluate(*make_evaluation(half_right(4), {"accuracy"}), {.samples = 0, .each = [&](size_t) { ++calls; }});
  EXPECT_FALSE(none[0].low);
  EXPECT_EQ(calls, 0u);
  evaluate(*make_evaluation(half_right(4), {"accuracy"}), {.samples = 7, .each = [&](size_t) { ++calls; }});
  EXPECT_EQ(calls, 7u);
}

TEST(LabelEvaluation, WhatIsNotDefinedHasANoteAndNoInterval) {
  const ScoreOutcomes constant{{1, 2, 3}, {5, 5, 5}};
  const auto metrics = evaluate(*make_evaluation(constant, {"combined_score", "pearson", "spearmanr", "mse"}), {});
  for (const size_t i : {0u, 1u, 2u}) {
    EXPECT_FALSE(metrics[i].value);
    EXPECT_FALSE(metrics[i].low);
    EXPECT_EQ(metrics[i].note, "not defined: all values are the same");
  }
  EXPECT_TRUE(metrics[3].value && metrics[3].low);
}

TEST(LabelEvaluation, SamplesOfEqualValuesAreLeftOutOfTheInterval) {
  const auto metrics = evaluate(*make_evaluation(ScoreOutcomes{{1, 2}, {1, 2}}, {"pearson"}), {.samples = 200});
  EXPECT_DOUBLE_EQ(metrics[0].low.value_or(0), 1);
  EXPECT_DOUBLE_EQ(metrics[0].high.value_or(0), 1);
}

TEST(LabelEvaluation, CombinedScoresAreMeans) {
  const auto classes =
      evaluate(*make_evaluation(ClassOutcomes{{1, 1, 0}, {1, 0, 0}, {}, {}, {}}, {"combined_score", "accuracy", "f1"}),
               {.samples = 0});
  EXPECT_DOUBLE_EQ(*classes[0].value, (*classes[1].value + *classes[2].value) / 2);
  const auto scores =
      evaluate(*make_evaluation(ScoreOutcomes{{1, 2, 3}, {1, 3, 2.5}}, {"combined_score", "pearson", "spearmanr"}),
               {.samples = 0});
  EXPECT_DOUBLE_EQ(*scores[0].value, (*scores[1].value + *scores[2].value) / 2);
}

TEST(LabelEvaluation, RowsOfAGroupAreRightTogetherAndDrawnTogether) {
  const ClassOutcomes outcomes{{1, 0, 1, 1, 0}, {1, 0, 1, 0, 0}, {0, 0, 1, 1, 2}, {}, {}};
  const auto evaluation = make_evaluation(outcomes, {"exact_match", "f1"});
  EXPECT_EQ(evaluation->units(), 3u);
  const auto all = evaluate(*evaluation, {.samples = 0});
  EXPECT_DOUBLE_EQ(*all[0].value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*all[1].value, 2 * 2 / (3.0 + 2));
  const std::vector<uint32_t> drawn = {1, 1, 0};
  EXPECT_DOUBLE_EQ(*evaluation->metrics(drawn)[0].value, 1.0 / 3);
  EXPECT_DOUBLE_EQ(*evaluation->metrics(drawn)[1].value, 2 * 3 / (5.0 + 3));
}

TEST(LabelEvaluation, EachGenreHasItsAccuracyWhereThereAreSeveral) {
  const auto metrics = evaluate(
      *make_evaluation(ClassOutcomes{{1, 0, 1}, {1, 0, 0}, {}, {0, 1, 1}, {"fiction", "travel"}}, {"accuracy"}),
      {.samples = 0});
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_EQ(metrics[1].name, "accuracy/fiction");
  EXPECT_EQ(metrics[1].value, 1);
  EXPECT_EQ(metrics[2].value, 0.5);
  EXPECT_EQ(evaluate(*make_evaluation(ClassOutcomes{{1}, {1}, {}, {0}, {"fiction"}}, {"accuracy"}), {}).size(), 1u);
}

TEST(LabelEvaluation, SetsOfClasses) {
  const ClassSetOutcomes outcomes{{{0, 1}, {2}, {}}, {{0}, {2, 3}, {}}};
  const auto metrics = evaluate(*make_evaluation(outcomes, {"f1_micro", "f1_macro", "accuracy"}), {.samples = 0});
  EXPECT_DOUBLE_EQ(*metrics[0].value, 2 * 2 / (3.0 + 3));
  EXPECT_DOUBLE_EQ(*metrics[1].value, (1 + 0 + 1 + 0) / 4.0);
  EXPECT_DOUBLE_EQ(*metrics[2].value, 1 / 3.0);
  EXPECT_FALSE(evaluate(*make_evaluation(ClassSetOutcomes{{{}}, {{}}}, {"f1_macro"}), {})[0].value);
}

TEST(LabelEvaluation, AnUnknownMetricIsOurMistake) {
  EXPECT_ERROR(evaluate(*make_evaluation(half_right(2), {"bleu"}), {}), kInternal, "unknown metric bleu");
}

}  // namespace
}  // namespace deberta
