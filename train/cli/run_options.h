// Options that every run has.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/options.h"
#include "options/verb_options.h"
#include "train/run/run.h"
#include "train/step/workplace.h"

namespace deberta::train {

// Sets `options`, which a run that goes on must have in common with the one before, and `details`, which the reports
// show. Both have the precision that was chosen.
void describe_run(const Options& options, const WorkplaceSettings& workplace, RunSettings& run);

// All but `best`, `options` and `details`.
RunSettings run_settings(const RunOptions& options, const OptimizerSettings& optimizer);

// If that is requested, sets `accumulation` to what memory has room for, as `find` finds it; the run's options record
// it, and a run that goes on keeps it. False: stopped.
bool choose_accumulation(const RunOptions& options, RunSettings& run, size_t& accumulation, const RunHooks& hooks,
                         const std::function<std::optional<size_t>()>& find);

// --add-tokens, in which \n and \t stand for a line break and a tab. Throws kUsage.
std::vector<std::string> added_tokens(const std::vector<std::string>& requested);

// Where --dtype auto took bf16.
void say_precision(const RunOptions& options, const WorkplaceSettings& workplace, const RunHooks& hooks);

// --dtype auto is the precision of the run that goes on, else the faster one. Throws kKernels.
// `folder`: of the run.
WorkplaceSettings workplace_settings(const RunOptions& options, const std::string& folder);

}  // namespace deberta::train
