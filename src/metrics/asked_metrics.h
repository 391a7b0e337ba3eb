// Metrics that are asked for in place of a task's own, and thresholds beside them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/label_evaluation.h"
#include "metrics/task_labels.h"
#include "metrics/task_table.h"
#include "metrics/threshold_evaluation.h"

namespace deberta {

struct AskedMetrics {
  std::vector<std::string> names = {};        // none: the task's own
  std::optional<double> beta = {};            // for f_beta and the best threshold, for which none means 1
  std::string positive_label = {};            // empty: the second of two labels that the task itself has
  std::vector<std::string> label_order = {};  // lowest first; none: the labels' names are numbers
  bool best_threshold = false;
  std::vector<double> recall_at_precision = {};
  std::vector<double> precision_at_recall = {};

  bool has(std::string_view metric) const;
  bool has_thresholds() const;
  bool needs_scores() const;  // per row, for thresholds and for metrics of the scores' order
};

// Every metric that some task has, in place of its own, for messages and help.
std::vector<std::string> all_asked_metrics();
// Those of a task, its own first; none: its rows have neither classes nor scores.
std::vector<std::string> asked_metrics_of(const TaskRow& task);
// The task's own, and last the loss of its answers: log_loss or mse. Where rows have neither classes nor scores: the
// task's own alone.
std::vector<std::string> metrics_with_loss(const TaskRow& task);

// Throws kUsage for what the task, or a file of predictions in place of a model, cannot have, and for settings that
// would change nothing.
void check_asked(const TaskRow& task, const AskedMetrics& asked, bool has_model);

// What was asked for, by the numbers of the labels.
struct MetricPlan {
  std::vector<std::string> metrics = {};  // none: the task's own
  MetricRules rules = {};
  ThresholdRules thresholds = {};
  std::vector<size_t> scored_labels = {};  // labels whose thresholds are computed
};

// Requires what check_asked() does. Throws kUsage for labels that are not there, and for those without an order.
MetricPlan plan_metrics(const TaskRow& task, const TaskLabels& labels, const AskedMetrics& asked);

// The label that f1, precision, recall and thresholds are about; empty: none is, or each is.
std::string positive_label_of(const TaskRow& task, const AskedMetrics& asked);

}  // namespace deberta
