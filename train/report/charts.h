// Which metrics of a run share a chart.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/report/run_record.h"

namespace deberta::train {

// A figure for each group of metrics that the log has; "" for a log without one.
std::string training_charts(const RunRecord& record);
std::string evaluation_charts(const RunRecord& record);

// Names of the evaluation metrics over all answers; the one that chooses the best model comes first.
std::vector<std::string> evaluation_metrics(const RunRecord& record);

// The metric and the class in a name: {"eval_f1", "card/arrival"} for "eval_f1/card/arrival"; none without a class.
std::optional<std::pair<std::string, std::string>> metric_of_class(std::string_view name);

// Whether a lower value of this metric is better: losses, perplexities, errors.
bool is_lower_better(std::string_view metric);

// The name as people read it: "discriminator_loss" -> "discriminator loss".
std::string readable(std::string_view metric);

}  // namespace deberta::train
