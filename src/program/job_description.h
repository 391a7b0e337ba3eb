// What decides the answers of a job: processes with another description may not write into its folder.
#pragma once
#include <string>

#include "base/json.h"
#include "options/options.h"

namespace deberta::program {

// The version, the verb, its options that were given but for those that change no answer, and a hash of the model's
// files. Throws what reading them throws, and Interrupted.
Json job_description(const Options& options, const std::string& model);

}  // namespace deberta::program
