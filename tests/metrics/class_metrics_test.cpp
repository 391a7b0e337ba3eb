// Metrics of classes and scores on cases worked out by hand.
#include "metrics/class_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace deberta::class_metrics_test {
namespace {

using Ints = std::vector<int32_t>;
using Numbers = std::vector<double>;

TEST(ClassMetrics, AccuracyAndF1) {
  const Ints gold = {1, 1, 1, 0, 0, 1}, predicted = {1, 0, 1, 1, 0, 1};
  EXPECT_DOUBLE_EQ(*accuracy(gold, predicted), 4.0 / 6);
  EXPECT_DOUBLE_EQ(f1(gold, predicted), 2 * 3 / (4.0 + 4));
  EXPECT_DOUBLE_EQ(f1(gold, predicted, 0), 2 * 1 / (2.0 + 2));
  EXPECT_DOUBLE_EQ(*f1_macro(gold, predicted), (0.75 + 0.5) / 2);
}

TEST(ClassMetrics, MacroF1CountsTheClassesThatOccurInEither) {
  EXPECT_DOUBLE_EQ(*f1_macro(Ints{0, 0, 2}, Ints{0, 0, 0}), (0.8 + 0) / 2);
  EXPECT_DOUBLE_EQ(*f1_macro(Ints{0, 0}, Ints{0, 5}), (2.0 / 3 + 0) / 2);
  EXPECT_DOUBLE_EQ(f1(Ints{0, 0}, Ints{0, 0}), 0) << "the class never occurs";
}

TEST(ClassMetrics, MatthewsOfTwoAndOfMoreClasses) {
  // tp 3, tn 1, fp 1, fn 1
  EXPECT_NEAR(*matthews_correlation(Ints{1, 1, 1, 0, 0, 1}, Ints{1, 0, 1, 1, 0, 1}),
              (3 * 1 - 1 * 1) / std::sqrt(4.0 * 4 * 2 * 2), 1e-15);
  EXPECT_DOUBLE_EQ(*matthews_correlation(Ints{0, 1, 2}, Ints{0, 1, 2}), 1);
  EXPECT_DOUBLE_EQ(*matthews_correlation(Ints{0, 1}, Ints{1, 0}), -1);
  EXPECT_DOUBLE_EQ(*matthews_correlation(Ints{0, 0, 1}, Ints{1, 1, 1}), 0) << "all answers are one class";
  EXPECT_DOUBLE_EQ(*matthews_correlation(Ints{0, 0}, Ints{0, 0}), 0);
}

TEST(ClassMetrics, FBetaWeighsRecall) {
  // Class 1: tp 2, fp 1, fn 2; class 0: tp 1, fp 2, fn 1.
  const Ints gold = {1, 1, 1, 1, 0, 0}, predicted = {1, 1, 0, 0, 1, 0};
  EXPECT_DOUBLE_EQ(f_beta(gold, predicted, 2), 5 * 2 / (5.0 * 2 + 4 * 2 + 1));
  EXPECT_DOUBLE_EQ(f_beta(gold, predicted, .5), 1.25 * 2 / (1.25 * 2 + .25 * 2 + 1));
  EXPECT_DOUBLE_EQ(f_beta(gold, predicted, 2, 0), 5 * 1 / (5.0 * 1 + 4 * 1 + 2));
  EXPECT_DOUBLE_EQ(*f_beta_macro(gold, predicted, 2), (10 / 19.0 + 5 / 11.0) / 2);
  EXPECT_DOUBLE_EQ(f_beta(gold, predicted, 2, 7), 0) << "the class never occurs";
}

TEST(ClassMetrics, PrecisionAndRecallOfAClass) {
  const Ints gold = {1, 1, 1, 1, 0, 0}, predicted = {1, 1, 0, 0, 1, 0};
  EXPECT_DOUBLE_EQ(*precision(gold, predicted, 1), 2 / 3.0);
  EXPECT_DOUBLE_EQ(*recall(gold, predicted, 1), 2 / 4.0);
  EXPECT_DOUBLE_EQ(*precision(gold, predicted, 0), 1 / 3.0);
  EXPECT_FALSE(precision(gold, Ints(6, 0), 1)) << "nothing is answered with the class";
  EXPECT_FALSE(recall(Ints(6, 0), predicted, 1)) << "no row has the class";
}

TEST(ClassMetrics, TheOrderOfScoresHasAnAreaAndAMeanPrecision) {
  const Ints gold = {2, 0, 2, 1};
  const Numbers scores = {.9, .8, .8, .1};
  EXPECT_DOUBLE_EQ(*roc_auc(gold, scores, 2), 3.5 / 4) << "one of four pairs has equal scores";
  EXPECT_DOUBLE_EQ(*average_precision(gold, scores, 2), (1 + 2 / 3.0) / 2) << "equal scores are one step";
  EXPECT_DOUBLE_EQ(*average_precision(Ints{1, 1, 0, 0}, Numbers{.5, .5, .5, .1}, 1), 2 / 3.0);
  EXPECT_DOUBLE_EQ(*roc_auc(gold, scores, 1), 0);
  EXPECT_DOUBLE_EQ(*average_precision(gold, scores, 1), 1 / 4.0);
  for (const Ints& labels : {Ints{2, 2, 2, 2}, Ints{0, 0, 0, 0}}) {
    EXPECT_FALSE(roc_auc(labels, scores, 2));
    EXPECT_FALSE(average_precision(labels, scores, 2));
  }
  EXPECT_FALSE(roc_auc(Ints{}, Numbers{}, 1) || average_precision(Ints{}, Numbers{}, 1));
}

TEST(ClassMetrics, KappaWeighsAnErrorByItsSquare) {
  // Observed: (0 + 1 + 4 + 0) / 4. By chance, over all pairs: gold 1 2 3 3, predicted 1 1 1 3.
  const double by_chance = (3 * (0 + 1 + 4 + 4) + (4 + 1 + 0 + 0)) / 16.0;
  EXPECT_DOUBLE_EQ(*quadratic_weighted_kappa(Numbers{1, 2, 3, 3}, Numbers{1, 1, 1, 3}), 1 - 5 / 4.0 / by_chance);
  EXPECT_DOUBLE_EQ(*quadratic_weighted_kappa(Numbers{1, 2, 10}, Numbers{1, 2, 10}), 1);
  EXPECT_DOUBLE_EQ(*quadratic_weighted_kappa(Numbers{0, 1}, Numbers{1, 0}), -1);
  EXPECT_EQ(quadratic_weighted_kappa(Numbers{4, 4, 4}, Numbers{3, 4, 8}), 0) << "no better than chance";
  EXPECT_FALSE(quadratic_weighted_kappa(Numbers{.1, .1, .1}, Numbers{.1, .1, .1}));
}

TEST(ClassMetrics, PearsonAndSpearman) {
  EXPECT_NEAR(*pearson(Numbers{1, 2, 3}, Numbers{2, 4, 7}), 5 / std::sqrt(2 * 38.0 / 3), 1e-15);
  EXPECT_DOUBLE_EQ(*spearman(Numbers{1, 2, 3}, Numbers{2, 4, 700}), 1);
  EXPECT_DOUBLE_EQ(*pearson(Numbers{1, 2}, Numbers{5, 1}), -1);
  EXPECT_EQ(ranks(Numbers{5, 1, 5, 0, 5}), (Numbers{4, 2, 4, 1, 4}));
  EXPECT_NEAR(*spearman(Numbers{1, 2, 2, 4}, Numbers{1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5), 1e-15);
}

TEST(ClassMetrics, CorrelationIsNotDefinedForEqualValues) {
  EXPECT_FALSE(pearson(Numbers{0.1, 0.1, 0.1}, Numbers{1, 2, 3}));
  EXPECT_FALSE(spearman(Numbers{1, 2, 3}, Numbers{4, 4, 4}));
  EXPECT_FALSE(pearson(Numbers{1}, Numbers{2}));
  EXPECT_FALSE(pearson(Numbers{}, Numbers{}));
}

TEST(ClassMetrics, WithoutRowsThereIsNoMetric) {
  EXPECT_FALSE(accuracy(Ints{}, Ints{}));
  EXPECT_FALSE(f1_macro(Ints{}, Ints{}));
  EXPECT_FALSE(matthews_correlation(Ints{}, Ints{}));
  EXPECT_FALSE(mean_squared_error(Numbers{}, Numbers{}));
  EXPECT_FALSE(f_beta_macro(Ints{}, Ints{}, 2));
  EXPECT_FALSE(quadratic_weighted_kappa(Numbers{}, Numbers{}));
  EXPECT_DOUBLE_EQ(*mean_squared_error(Numbers{1, 2}, Numbers{2, 4}), 2.5);
}

}  // namespace
}  // namespace deberta::class_metrics_test
