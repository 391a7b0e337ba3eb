// A guard's errors and thresholds, against a search over all thresholds.
#include "metrics/finding_evaluation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>

#include "metrics/label_evaluation.h"

namespace deberta::finding_evaluation_test {
namespace {

std::vector<uint32_t> all_of(size_t rows) {
  std::vector<uint32_t> units(rows);
  std::iota(units.begin(), units.end(), 0u);
  return units;
}

std::unique_ptr<Evaluation> evaluation_of(const FindingOutcomes& outcomes, std::vector<double> rates) {
  ClassOutcomes classes;
  for (size_t i = 0; i < outcomes.scores.size(); ++i) {
    classes.gold.push_back(outcomes.is_finding[i]);
    classes.predicted.push_back(outcomes.is_reported[i]);
  }
  return with_findings(make_evaluation(std::move(classes), {"accuracy"}), outcomes, std::move(rates));
}

std::map<std::string, Metric> by_name(const std::vector<Metric>& metrics) {
  std::map<std::string, Metric> named;
  for (const Metric& metric : metrics) named.emplace(metric.name, metric);
  return named;
}

TEST(FindingEvaluation, CountsBothErrorsOfTheModelsOwnDecision) {
  const FindingOutcomes outcomes{.scores = {.9, .8, .2, .1, .6},
                                 .is_finding = {true, false, true, false, false},
                                 .is_reported = {true, true, false, false, true}};
  const auto by_metric = by_name(evaluation_of(outcomes, {})->metrics(all_of(5)));
  EXPECT_EQ(by_metric.at("accuracy").value, .4);
  EXPECT_DOUBLE_EQ(*by_metric.at("false_positive_rate").value, 2.0 / 3);
  EXPECT_EQ(by_metric.at("false_negative_rate").value, .5);
}

TEST(FindingEvaluation, TheThresholdIsTheLowestScoreThatKeepsTheRate) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    FindingOutcomes outcomes;
    const size_t rows = 2 + random() % 40, levels = 1 + random() % 30;
    for (size_t i = 0; i < rows; ++i) {
      outcomes.scores.push_back(static_cast<double>(random() % levels) / static_cast<double>(levels));
      outcomes.is_finding.push_back(random() % 2 == 0);
      outcomes.is_reported.push_back(outcomes.scores.back() >= .5);
    }
    const double rate = static_cast<double>(1 + random() % 99) / 100;
    const auto by_metric = by_name(evaluation_of(outcomes, {rate})->metrics(all_of(rows)));
    size_t benign = 0;
    for (const bool is_finding : outcomes.is_finding) benign += !is_finding;
    std::optional<double> lowest;
    double false_positives = 0, caught = 0;
    const std::set<double> scores(outcomes.scores.begin(), outcomes.scores.end());
    for (const double threshold : scores) {
      size_t reported = 0, right = 0;
      for (size_t i = 0; i < rows; ++i) {
        reported += outcomes.scores[i] >= threshold && !outcomes.is_finding[i];
        right += outcomes.scores[i] >= threshold && outcomes.is_finding[i];
      }
      if (lowest || static_cast<double>(reported) > rate * static_cast<double>(benign) + 1e-9) continue;
      lowest = threshold;
      false_positives = static_cast<double>(reported);
      caught = static_cast<double>(right);
    }
    const std::string suffix = fmt::format("@{}", rate);
    const Metric& threshold = by_metric.at("threshold" + suffix);
    if (benign == 0) {
      EXPECT_EQ(threshold.note, "not defined: no row is benign");
      EXPECT_FALSE(threshold.value);
      continue;
    }
    EXPECT_EQ(threshold.value, lowest) << "rate " << rate << ", round " << round;
    if (!lowest) continue;
    EXPECT_DOUBLE_EQ(*by_metric.at("false_positive_rate" + suffix).value,
                     false_positives / static_cast<double>(benign));
    const auto findings = static_cast<double>(rows - benign);
    const auto missed = by_metric.at("false_negative_rate" + suffix).value;
    EXPECT_EQ(missed.has_value(), findings > 0);
    if (!missed) continue;
    EXPECT_DOUBLE_EQ(*missed, (findings - caught) / findings);
  }
}

TEST(FindingEvaluation, ARateThatTheRowsCannotShowSaysSo) {
  const FindingOutcomes outcomes{
      .scores = {.1, .2, .9}, .is_finding = {false, false, true}, .is_reported = {false, false, true}};
  const auto by_metric = by_name(evaluation_of(outcomes, {.01})->metrics(all_of(3)));
  EXPECT_EQ(by_metric.at("threshold@0.01").value, .9);
  EXPECT_EQ(by_metric.at("threshold@0.01").note, "2 benign rows cannot show a rate of 0.01: none of them is reported");
}

TEST(FindingEvaluation, NoThresholdWhereABenignRowScoresHighest) {
  const FindingOutcomes outcomes{.scores = {.9, .2}, .is_finding = {false, true}, .is_reported = {true, false}};
  const auto by_metric = by_name(evaluation_of(outcomes, {.1})->metrics(all_of(2)));
  EXPECT_FALSE(by_metric.at("threshold@0.1").value);
  EXPECT_FALSE(by_metric.at("false_negative_rate@0.1").value);
}

}  // namespace
}  // namespace deberta::finding_evaluation_test
