// run.html: the whole run on one page.
#pragma once
#include <optional>
#include <string>

#include "train/report/predictions.h"
#include "train/report/run_record.h"

namespace deberta::train {

// `predictions`: of the evaluation at the end, for a section of its own.
std::string make_run_page(const RunRecord& record, const std::optional<PredictedRows>& predictions);

// What the run trained, in a few words: "masked language model".
std::string objective_of(const RunRecord& record);

// The step of the best checkpoint among those that are kept: what the run says, else the best first metric of the
// evaluations at their steps. Nothing where neither tells.
std::optional<BestMetric> best_checkpoint(const RunRecord& record);

}  // namespace deberta::train
