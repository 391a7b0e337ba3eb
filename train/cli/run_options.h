// Options that every run has.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "options/options.h"
#include "options/verb_options.h"
#include "train/loop/run.h"
#include "train/loop/workplace.h"

namespace deberta::train {

// Those that change the weights or the log, by name, as text: a run that goes on must have the same.
std::map<std::string, std::string> options_of_run(const Options& options);

// What the reports say of data and origin. Files and folders are named without the folders that they are in.
Details details_of_run(const Options& options);

// All but `best`, `options` and `details`.
RunSettings run_settings(const RunOptions& options, const OptimizerSettings& optimizer);

// Sets `accumulation` to what memory has room for, as `find` finds it, if that is asked for; the run's options say what
// it is, and a run that goes on keeps it. False: stopped.
bool choose_accumulation(const RunOptions& options, RunSettings& run, size_t& accumulation, const RunHooks& hooks,
                         const std::function<std::optional<size_t>()>& find);

WorkplaceSettings workplace_settings(const RunOptions& options);

}  // namespace deberta::train
