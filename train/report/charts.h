// Which metrics of a run share a chart.
#pragma once
#include <string>

#include "train/report/run_record.h"

namespace deberta::train {

// A figure for each group of metrics that the log has; "" for a log without one.
std::string training_charts(const RunRecord& record);
std::string evaluation_charts(const RunRecord& record);

// Whether a lower value of this metric is better: losses, perplexities, errors.
bool is_lower_better(std::string_view metric);

// The name as people read it: "discriminator_loss" -> "discriminator loss".
std::string readable(std::string_view metric);

}  // namespace deberta::train
