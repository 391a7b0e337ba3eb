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
  std::optional<double> beta = {};            // of f_beta and of the best threshold, which has 1 without it
  std::string positive_label = {};            // empty: of two labels that the task itself has, the second
  std::vector<std::string> label_order = {};  // lowest first; none: by the numbers that are their names
  bool best_threshold = false;
  std::vector<double> recall_at_precision = {};
  std::vector<double> precision_at_recall = {};

  bool has(std::string_view metric) const;
  bool has_thresholds() const;
  bool needs_scores() const;  // of each row, for thresholds and for metrics of their order
};

// Every metric that some task has, in place of its own, for messages and help.
std::vector<std::string> all_asked_metrics();
// Those of a task, its own first; none: its rows have neither classes nor scores.
std::vector<std::string> asked_metrics_of(const TaskRow& task);
// Its own, and last the loss of its answers: log_loss or mse. Of a task whose rows have neither classes nor scores its
// own alone.
std::vector<std::string> metrics_with_loss(const TaskRow& task);

// Throws kUsage for what the task, or a file of predictions in place of a model, cannot have, and for settings that
// would change nothing.
void check_asked(const TaskRow& task, const AskedMetrics& asked, bool has_model);

// What was asked for, by the numbers of the labels.
struct MetricPlan {
  std::vector<std::string> metrics = {};  // none: the task's own
  MetricRules rules = {};
  ThresholdRules thresholds = {};
  std::vector<size_t> scored_labels = {};  // whose thresholds are sought
};

// Requires what check_asked() does. Throws kUsage for labels that are not there, and for those without an order.
MetricPlan plan_metrics(const TaskRow& task, const TaskLabels& labels, const AskedMetrics& asked);

// The label that f1, precision, recall and thresholds are about; empty: none is, or each is.
std::string positive_label_of(const TaskRow& task, const AskedMetrics& asked);

}  // namespace deberta
