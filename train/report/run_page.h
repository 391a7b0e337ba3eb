// run.html: the whole run on one page.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "train/report/predictions.h"
#include "train/report/run_record.h"

namespace deberta::train {

// `predictions`: those of the last evaluation, which have their own section. `others`: runs that a chart sets beside
// this one.
std::string make_run_page(const RunRecord& record, const std::optional<PredictedRows>& predictions,
                          std::span<const RunRecord> others = {});

// What the run trained, in a few words: "masked language model".
std::string objective_of(const RunRecord& record);

// The step of the best kept checkpoint: by the state of the run, else by the first metric of the evaluations at the
// checkpoints' steps. None where neither has it.
std::optional<BestMetric> best_checkpoint(const RunRecord& record);

}  // namespace deberta::train
