// Which metrics and thresholds can be asked for, and which class they are about.
#include "metrics/asked_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metrics/task_rows.h"
#include "options/options.h"
#include "support/expect_error.h"

namespace deberta::asked_metrics_test {
namespace {

void check(const char* task, const AskedMetrics& asked, bool has_model = true) {
  check_asked(find_task(task), asked, has_model);
}

TEST(AskedMetrics, ThoseOfATaskBeginWithItsOwn) {
  EXPECT_EQ(asked_metrics_of(find_task("regression")),
            (std::vector<std::string>{"pearson", "spearmanr", "mse", "quadratic_weighted_kappa"}));
  EXPECT_EQ(asked_metrics_of(find_task("multirc")).at(1), "exact_match");
  EXPECT_EQ(asked_metrics_of(find_task("multi-label")).back(), "log_loss");
  for (const char* other : {"race", "squad", "record", "ner", "mlm"})
    EXPECT_TRUE(asked_metrics_of(find_task(other)).empty()) << other;
}

TEST(AskedMetrics, TheHelpOfTheOptionNamesEachOfThem) {
  for (const OptionRow* row : options_of("eval")) {
    if (row->name != "metrics") continue;
    std::string names;
    for (const std::string& name : all_asked_metrics()) names += " " + name;
    EXPECT_NE(row->help.find(":" + names + ","), std::string::npos) << names;
    return;
  }
  FAIL() << "eval has no option --metrics";
}

TEST(AskedMetrics, AnUnknownOneIsRefusedWithThoseThatExist) {
  EXPECT_ERROR(
      check("regression", {.names = {"mse", "acuracy"}}), kUsage,
      "metrics: expected some of pearson, spearmanr, mse, quadratic_weighted_kappa for the task regression, got "
      "\"acuracy\"");
  EXPECT_ERROR(check("cola", {.names = {"acuracy"}}), kUsage, "did you mean accuracy?");
  EXPECT_ERROR(check("squad", {.names = {"f1"}}), kUsage,
               "metrics: expected a task whose rows have classes or a score");
  EXPECT_ERROR(check("race", {.best_threshold = true}), kUsage,
               "best_threshold: expected a task whose rows have classes");
  EXPECT_NO_THROW(check("squad", {}));
}

TEST(AskedMetrics, WhatNeedsScoresNeedsAModel) {
  EXPECT_NO_THROW(check("sst-2", {.names = {"f1", "matthews_correlation"}}, false));
  EXPECT_ERROR(check("sst-2", {.names = {"log_loss"}}, false), kUsage, "metrics: expected a model that answers");
  EXPECT_ERROR(check("sst-2", {.names = {"f1", "roc_auc"}}, false), kUsage, "metrics: expected a model that answers");
  EXPECT_ERROR(check("sst-2", {.names = {"f1"}, .recall_at_precision = {.9}}, false), kUsage,
               "recall_at_precision: expected a model that answers");
}

TEST(AskedMetrics, ASettingWithoutUseIsRefused) {
  EXPECT_ERROR(check("sst-2", {.names = {"f_beta"}}), kUsage, "beta: expected a number for f_beta, got none");
  EXPECT_ERROR(check("sst-2", {.names = {"f1"}, .beta = 2}), kUsage,
               "beta: expected a metric or a threshold that uses beta, got neither; name f_beta with metrics or ask "
               "for best_threshold");
  EXPECT_ERROR(check("sst-2", {.names = {"f_beta"}, .beta = 0}), kUsage, "beta: expected a number above 0, got 0");
  EXPECT_ERROR(check("sst-2", {.positive_label = "1"}), kUsage, "positive_label: expected a metric of one class or a");
  EXPECT_ERROR(check("sst-2", {.names = {"f1"}, .label_order = {"0", "1"}}), kUsage, "label_order: expected a metric");
  EXPECT_ERROR(check("sts-b", {.names = {"quadratic_weighted_kappa"}, .label_order = {"0", "1"}}), kUsage,
               "label_order");
  EXPECT_ERROR(check("regression", {.best_threshold = true}), kUsage,
               "expected a task whose rows have classes of their");
  EXPECT_ERROR(check("multirc", {.precision_at_recall = {.5}}), kUsage,
               "precision_at_recall: expected a task whose rows");
  for (const double share : {0.0, 1.5, -1.0})
    EXPECT_ERROR(check("sst-2", {.recall_at_precision = {share}}), kUsage,
                 "expected shares above 0 and at most 1, got");
}

TEST(AskedMetrics, ThePositiveClassIsNeverGuessed) {
  const AskedMetrics best{.best_threshold = true};
  EXPECT_EQ(positive_label_of(find_task("sst-2"), best), "1");
  EXPECT_EQ(positive_label_of(find_task("rte"), {.names = {"recall"}}), "entailment");
  EXPECT_EQ(positive_label_of(find_task("sst-2"), {.names = {"accuracy"}}), "") << "nothing is about it";
  EXPECT_ERROR(plan_metrics(find_task("classification"), TaskLabels(std::vector<std::string>{"ham", "spam"}), best),
               kUsage, "positive_label: expected the class that the figures are about, one of ham, spam, got none");
  EXPECT_ERROR(check("mnli", {.names = {"precision"}}), kUsage,
               "about, one of contradiction, neutral, entailment, got none");
  EXPECT_NO_THROW(check("multi-label", best));
}

TEST(AskedMetrics, EachOfThemCanBeComputed) {
  for (const TaskRow& task : task_table()) {
    const TaskLabels labels(std::vector<std::string>{"0", "1"});
    const bool is_score = task.target == TaskTarget::kScore;
    TaskRows rows(task, is_score ? TaskLabels(task) : labels);
    TaskAnswer answer;
    if (is_score) answer.values = {0};
    answer.scores = {.25f, .75f};
    answer.logits = {-1, -2};
    for (const char* label : {"0", "1"}) {
      Example example;
      example.label = label;
      rows.add(example);
    }
    AskedMetrics asked{.names = asked_metrics_of(task), .beta = 2, .positive_label = "1"};
    if (asked.names.empty()) continue;
    const std::vector<std::optional<TaskAnswer>> answers(2, answer);
    std::vector<std::string> names, expected;
    for (const std::string& name : asked.names) expected.push_back(with_beta(name, 2));
    for (const Metric& metric :
         evaluate(*rows.evaluate(answers, {}, plan_metrics(task, labels, asked)), {.samples = 2}))
      names.push_back(metric.name);
    EXPECT_EQ(names, expected) << task.name;
  }
}

TEST(AskedMetrics, LabelsBecomeNumbers) {
  const TaskRow& task = find_task("classification");
  const TaskLabels labels(std::vector<std::string>{"ham", "spam", "scam"});
  const MetricPlan plan = plan_metrics(
      task, labels, {.names = {"f1", "f_beta"}, .beta = 1, .positive_label = "SCAM", .best_threshold = true});
  EXPECT_EQ(plan.rules.positive, 2);
  EXPECT_EQ(plan.scored_labels, std::vector<size_t>{2});
  EXPECT_EQ(plan.metrics, std::vector<std::string>{"f1"}) << "F-beta of 1 is F1";
  EXPECT_ERROR(plan_metrics(task, labels, {.names = {"f1"}, .positive_label = "eggs"}), kUsage,
               "positive_label: expected one of the labels ham, spam, scam, got \"eggs\"");
  const MetricPlan each = plan_metrics(find_task("multi-label"), labels, {.best_threshold = true});
  EXPECT_EQ(each.scored_labels, (std::vector<size_t>{0, 1, 2}));
  const MetricPlan scam_plan =
      plan_metrics(find_task("multi-label"), labels, {.positive_label = "scam", .best_threshold = true});
  EXPECT_EQ(scam_plan.scored_labels, std::vector<size_t>{2});
}

TEST(AskedMetrics, ClassesHaveAnOrderByNumbersOrAsItIsGiven) {
  const TaskRow& task = find_task("classification");
  const AskedMetrics kappa{.names = {"quadratic_weighted_kappa"}};
  const TaskLabels stars(std::vector<std::string>{"5", "1", "-2.5"}),
      words(std::vector<std::string>{"low", "high", "mid"});
  EXPECT_EQ(plan_metrics(task, stars, kappa).rules.class_numbers, (std::vector<double>{5, 1, -2.5}));
  const auto ordered = [&](std::vector<std::string> order) {
    return plan_metrics(task, words, {.names = kappa.names, .label_order = std::move(order)}).rules.class_numbers;
  };
  EXPECT_EQ(ordered({"low", "MID", "high"}), (std::vector<double>{0, 2, 1}));
  EXPECT_ERROR(
      ordered({}), kUsage,
      "label_order: expected the labels low, high, mid in their order, the lowest first, got none, and they are");
  EXPECT_ERROR(ordered({"low", "mid"}), kUsage, "got low, mid");
  EXPECT_ERROR(ordered({"low", "mid", "low"}), kUsage, "got low twice");
  EXPECT_ERROR(ordered({"low", "mid", "best"}), kUsage, "expected one of the labels low, high, mid, got \"best\"");
  EXPECT_ERROR(plan_metrics(task, TaskLabels(std::vector<std::string>{"nan", "1"}), kappa), kUsage, "not all numbers");
}

}  // namespace
}  // namespace deberta::asked_metrics_test
