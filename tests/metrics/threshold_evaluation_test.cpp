// Thresholds of a class, against a search over all of them.
#include "metrics/threshold_evaluation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "metrics/label_evaluation.h"

namespace deberta::threshold_evaluation_test {
namespace {

using Named = std::map<std::string, Metric>;

Named metrics_of(const ScoredClass& scored, const ThresholdRules& rules, std::vector<uint32_t> units = {}) {
  ClassOutcomes classes;
  classes.gold.assign(scored.scores.size(), 0);
  classes.predicted = classes.gold;
  if (units.empty()) {
    units.resize(scored.scores.size());
    std::iota(units.begin(), units.end(), 0u);
  }
  Named named;
  const auto evaluation = with_thresholds(make_evaluation(std::move(classes), {"accuracy"}), {scored}, rules);
  for (const Metric& metric : evaluation->metrics(units)) named.emplace(metric.name, metric);
  return named;
}

TEST(Thresholds, AreThoseOfACaseWorkedOutByHand) {
  //                         from .9 on: 1 of 1, .8: 1 of 2, .7: 2 of 3, .6: 3 of 4, .2: 4 of 6
  const ScoredClass scored{"spam", {.9, .8, .7, .6, .2, .2}, {true, false, true, true, true, false}};
  const Named metrics = metrics_of(scored, {.seeks_best = true, .precisions = {1, .75, .67}, .recalls = {.25, .5, 1}});
  EXPECT_EQ(metrics.at("threshold@best_f1/spam").value, .2);
  EXPECT_DOUBLE_EQ(*metrics.at("f1@best_f1/spam").value, 2 * 4 / (4.0 + 6));
  EXPECT_DOUBLE_EQ(*metrics.at("precision@best_f1/spam").value, 4 / 6.0);
  EXPECT_EQ(metrics.at("recall@best_f1/spam").value, 1);
  EXPECT_EQ(metrics.at("threshold@precision=1/spam").value, .9);
  EXPECT_EQ(metrics.at("recall@precision=1/spam").value, .25);
  EXPECT_EQ(metrics.at("threshold@precision=0.75/spam").value, .6);
  EXPECT_EQ(metrics.at("recall@precision=0.75/spam").value, .75);
  EXPECT_EQ(metrics.at("precision@precision=0.75/spam").value, .75) << "at least: a precision that is met counts";
  EXPECT_EQ(metrics.at("threshold@precision=0.67/spam").value, .6) << "4 of 6 is less than .67";
  EXPECT_EQ(metrics.at("threshold@recall=0.25/spam").value, .9);
  EXPECT_EQ(metrics.at("threshold@recall=0.5/spam").value, .6);
  EXPECT_EQ(metrics.at("precision@recall=0.5/spam").value, .75);
  EXPECT_EQ(metrics.at("threshold@recall=1/spam").value, .2);
  const Named weighted = metrics_of(scored, {.seeks_best = true, .beta = .5});
  EXPECT_EQ(weighted.at("threshold@best_f0.5/spam").value, .6);
  EXPECT_DOUBLE_EQ(*weighted.at("f0.5@best_f0.5/spam").value, 1.25 * 3 / (.25 * 4 + 4));
}

TEST(Thresholds, DoNotCutEqualScoresApart) {
  const ScoredClass tied{"x", {.5, .5, .5, .4}, {true, true, false, true}};
  const Named metrics = metrics_of(tied, {.precisions = {.9, .7}});
  EXPECT_FALSE(metrics.at("threshold@precision=0.9/x").value) << "the first two of three equal scores are no choice";
  EXPECT_EQ(metrics.at("threshold@precision=0.9/x").note, "not defined: no threshold has this precision");
  EXPECT_EQ(metrics.at("threshold@precision=0.7/x").value, .4);
  EXPECT_EQ(metrics.at("recall@precision=0.7/x").value, 1);
}

TEST(Thresholds, OfEquallyGoodOnesTheBetterAtTheOtherFigureIsTaken) {
  const ScoredClass scored{"x", {.9, .8, .7, .6}, {true, false, true, false}};
  const Named metrics = metrics_of(scored, {.seeks_best = true, .precisions = {.4}, .recalls = {.4}});
  EXPECT_EQ(metrics.at("threshold@best_f1/x").value, .7);
  EXPECT_EQ(metrics.at("threshold@precision=0.4/x").value, .7) << "the lower one has the same recall and errs more";
  EXPECT_EQ(metrics.at("threshold@recall=0.4/x").value, .9);
  const ScoredClass right{"x", {.9, .8}, {true, true}};
  EXPECT_EQ(metrics_of(right, {.recalls = {.5}}).at("threshold@recall=0.5/x").value, .8);
}

TEST(Thresholds, WithoutARowOfTheClassThereAreNone) {
  const Named metrics =
      metrics_of({"x", {.9, .8}, {false, false}}, {.seeks_best = true, .precisions = {.5}, .recalls = {.5}});
  for (const auto& [name, metric] : metrics) {
    if (name == "accuracy") continue;
    EXPECT_FALSE(metric.value) << name;
    EXPECT_EQ(metric.note, name.starts_with("threshold@") ? "not defined: no row has the class" : "") << name;
  }
  EXPECT_EQ(metrics.size(), 1u + 4 + 3 + 3);
}

TEST(Thresholds, AreSoughtAnewInEverySample) {
  const ScoredClass scored{"x", {.9, .8, .7}, {false, true, true}};
  EXPECT_EQ(metrics_of(scored, {.precisions = {.6}}).at("threshold@precision=0.6/x").value, .7);
  EXPECT_EQ(metrics_of(scored, {.precisions = {.6}}, {1, 1, 0}).at("threshold@precision=0.6/x").value, .8);
}

TEST(Thresholds, OfRandomRowsAreThoseOfASearch) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    ScoredClass scored{"x", {}, {}};
    const size_t rows = 1 + random() % 30, levels = 1 + random() % 12;
    for (size_t i = 0; i < rows; ++i) {
      scored.scores.push_back(static_cast<double>(random() % levels) / 16);
      scored.is_positive.push_back(random() % 3 == 0);
    }
    const double least = static_cast<double>(1 + random() % 20) / 20;
    const double beta = static_cast<double>(1 + random() % 4) / 2;
    const Named metrics =
        metrics_of(scored, {.seeks_best = true, .beta = beta, .precisions = {least}, .recalls = {least}});
    double best_f = -1, best_recall = -1, best_precision = -1;
    const std::set<double> distinct(scored.scores.begin(), scored.scores.end());
    for (const double threshold : distinct) {
      double right = 0, answered = 0, positives = 0;
      for (size_t i = 0; i < rows; ++i) {
        answered += scored.scores[i] >= threshold;
        right += scored.scores[i] >= threshold && scored.is_positive[i];
        positives += scored.is_positive[i];
      }
      if (positives == 0) continue;
      const double precision = right / answered, recall = right / positives;
      const double f = right == 0 ? 0 : (1 + beta * beta) * precision * recall / (beta * beta * precision + recall);
      best_f = std::max(best_f, f);
      if (precision >= least) best_recall = std::max(best_recall, recall);
      if (recall >= least) best_precision = std::max(best_precision, precision);
    }
    const std::string f_name = with_beta("f_beta", beta);
    EXPECT_NEAR(metrics.at(fmt::format("{0}@best_{0}/x", f_name)).value.value_or(-1), best_f, 1e-12) << round;
    EXPECT_EQ(metrics.at(fmt::format("recall@precision={}/x", least)).value.value_or(-1), best_recall) << round;
    EXPECT_EQ(metrics.at(fmt::format("precision@recall={}/x", least)).value.value_or(-1), best_precision) << round;
  }
}

TEST(Thresholds, ScoresAreWhatPeopleAreShown) {
  EXPECT_EQ(as_shown(.1f), .1);
  EXPECT_EQ(as_shown(1 / 3.0f), 0.33333334);
}

}  // namespace
}  // namespace deberta::threshold_evaluation_test
