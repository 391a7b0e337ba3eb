// What is wrong with a plan, and with the folder for its runs. It is found before anything runs: hours later would be a
// bad time.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "train/ablation/plan.h"

namespace deberta::train {

// The wrong options among those of a verb: name, and what is wrong with it.
using WrongOptions = std::vector<std::pair<std::string, std::string>>;
using CheckOptions = std::function<WrongOptions(const std::string& verb, const JsonObject& options)>;

// Throws kUsage for options that their verbs do not take and metrics that their tasks do not have, kFileNotFound for
// files that are not there; each with all problems of its kind.
void check_plan(const PlanFile& file, const CheckOptions& check_options);

// Throws kUsage for a folder with files of the plan or runs of another one, kFileWrite for one with other files.
void check_folder(const PlanFile& file, const std::string& folder);

}  // namespace deberta::train
