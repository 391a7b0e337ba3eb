// Samples and their percentiles; labels, groups and genres.
#include "metrics/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "metrics/label_evaluation.h"
#include "support/expect_error.h"

namespace deberta::evaluation_test {
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

TEST(LabelEvaluation, MetricsOfOneClassAreOfTheOneThatIsNamed) {
  const ClassOutcomes outcomes{{1, 1, 1, 1, 0, 0}, {1, 1, 0, 0, 1, 0}, {}, {}, {}};
  const std::vector<std::string> names = {"f1", "f_beta", "f_beta_macro", "precision", "recall"};
  const auto of_zero = evaluate(*make_evaluation(outcomes, names, {.positive = 0, .beta = 2}), {.samples = 0});
  EXPECT_DOUBLE_EQ(*of_zero[0].value, 2 * 1 / (3.0 + 2));
  EXPECT_EQ(of_zero[1].name, "f2");
  EXPECT_DOUBLE_EQ(*of_zero[1].value, 5 * 1 / (4.0 * 2 + 3));
  EXPECT_EQ(of_zero[2].name, "f2_macro");
  EXPECT_DOUBLE_EQ(*of_zero[2].value, (10 / 19.0 + 5 / 11.0) / 2);
  EXPECT_DOUBLE_EQ(*of_zero[3].value, 1 / 3.0);
  EXPECT_DOUBLE_EQ(*of_zero[4].value, 1 / 2.0);
  const auto never = evaluate(*make_evaluation(outcomes, names, {.positive = 2, .beta = .5}), {.samples = 0});
  EXPECT_EQ(never[1].name, "f0.5");
  EXPECT_EQ(never[3].note, "not defined: no answer is the class");
  EXPECT_EQ(never[4].note, "not defined: no row has the class");
  EXPECT_EQ(make_evaluation(outcomes, names, {.beta = 2})->metrics({})[1].name, "f2") << "without rows too";
}

TEST(LabelEvaluation, KappaGoesByTheNumbersOfTheClasses) {
  const ClassOutcomes outcomes{{0, 1, 2, 2}, {0, 0, 0, 2}, {}, {}, {}};
  const auto kappa = [&](std::vector<double> numbers) {
    return *evaluate(*make_evaluation(outcomes, {"quadratic_weighted_kappa"}, {.class_numbers = std::move(numbers)}),
                     {.samples = 0})[0]
                .value;
  };
  const double by_chance = (3 * (0 + 1 + 4 + 4) + (4 + 1 + 0 + 0)) / 16.0;
  EXPECT_DOUBLE_EQ(kappa({1, 2, 3}), 1 - 5 / 4.0 / by_chance);
  EXPECT_NE(kappa({1, 2, 3}), kappa({1, 3, 2}));
  const ScoreOutcomes scores{{1.2, 1.9, 3, 2.6}, {.7, 1.4, 1, 3.3}};
  EXPECT_DOUBLE_EQ(*evaluate(*make_evaluation(scores, {"quadratic_weighted_kappa"}), {.samples = 0})[0].value,
                   1 - 5 / 4.0 / by_chance)
      << "of scores rounded to 1 2 3 3 and 1 1 1 3";
}

TEST(LabelEvaluation, TheLogLossIsTheMeanOverTheRowsOfASample) {
  const std::vector<uint32_t> drawn = {2, 2, 0};
  const ClassOutcomes classes{{0, 1, 1}, {0, 1, 1}, {}, {}, {}, {.5, 2, .125}};
  EXPECT_DOUBLE_EQ(*make_evaluation(classes, {"log_loss"})->metrics(drawn)[0].value, .75 / 3);
  const ClassOutcomes grouped{{0, 1, 1}, {0, 1, 1}, {0, 1, 1}, {}, {}, {.5, 2, .125}};
  const std::vector<uint32_t> second = {1};
  EXPECT_DOUBLE_EQ(*make_evaluation(grouped, {"log_loss"})->metrics(second)[0].value, 2.125 / 2);
  const ClassSetOutcomes sets{{{0}, {}, {1}}, {{}, {}, {1}}, {.5, 2, .125}};
  EXPECT_DOUBLE_EQ(*make_evaluation(sets, {"log_loss"})->metrics(drawn)[0].value, .75 / 3);
  EXPECT_EQ(make_evaluation(classes, {"log_loss"})->metrics({})[0].note, "no rows");
}

TEST(LabelEvaluation, TheOrderOfScoresIsThatOfTheRowsOfASample) {
  const ClassOutcomes outcomes{{1, 0, 1, 0}, {1, 0, 1, 0}, {}, {}, {}, {}, {.9, .8, .7, .1}};
  const auto evaluation = make_evaluation(outcomes, {"roc_auc", "average_precision"});
  const std::vector<uint32_t> drawn = {2, 1, 2, 3};
  EXPECT_DOUBLE_EQ(*evaluation->metrics(drawn)[0].value, 2 / 4.0);
  EXPECT_DOUBLE_EQ(*evaluation->metrics(drawn)[1].value, 2 / 3.0);
  const std::vector<uint32_t> positives = {0, 2};
  EXPECT_EQ(evaluation->metrics(positives)[0].note, "not defined: all rows have the class, or none has");
  EXPECT_EQ(evaluation->metrics({})[1].note, "no rows");
}

TEST(LabelEvaluation, SetsOfClassesHaveFBeta) {
  const ClassSetOutcomes outcomes{{{0, 1}, {2}, {}}, {{0}, {2, 3}, {}}};
  const auto metrics =
      evaluate(*make_evaluation(outcomes, {"f_beta_micro", "f1_micro", "f_beta_macro"}, {.beta = 2}), {.samples = 0});
  EXPECT_EQ(metrics[0].name, "f2_micro");
  EXPECT_DOUBLE_EQ(*metrics[0].value, 5 * 2 / (4.0 * 3 + 3));
  EXPECT_DOUBLE_EQ(*metrics[1].value, 2 * 2 / (3.0 + 3));
  EXPECT_DOUBLE_EQ(*metrics[2].value, (1 + 0 + 1 + 0) / 4.0);
}

TEST(Bootstrap, SomeUnitsAreEvaluatedAsIfTheyWereAll) {
  const ClassOutcomes all{{0, 1, 1, 0, 1}, {0, 0, 1, 1, 1}, {}, {}, {}}, some{{1, 1, 1}, {0, 1, 1}, {}, {}, {}};
  const std::vector<uint32_t> units = {1, 2, 4};
  const BootstrapRules rules{.samples = 50, .seed = 3};
  const Metric of_units = evaluate(*make_evaluation(all, {"accuracy"}), units, rules)[0];
  const Metric alone = evaluate(*make_evaluation(some, {"accuracy"}), rules)[0];
  EXPECT_DOUBLE_EQ(*of_units.value, 2 / 3.0);
  EXPECT_EQ(of_units.low, alone.low);
  EXPECT_EQ(of_units.high, alone.high);
}

TEST(LabelEvaluation, AnUnknownMetricIsOurMistake) {
  EXPECT_ERROR(evaluate(*make_evaluation(half_right(2), {"bleu"}), {}), kInternal, "unknown metric bleu");
}

}  // namespace
}  // namespace deberta::evaluation_test
