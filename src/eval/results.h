// Results of many tasks from a folder: ours, or those of the Hugging Face scripts.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "metrics/benchmarks.h"

namespace deberta {

constexpr const char* kResultsName = "all_results.json";

struct LoadedResults {
  std::unordered_map<std::string, TaskResults> tasks = {};  // by their names in the task table, in percent
  std::vector<std::string> nameless = {};  // files that neither a key nor their folder assigns to a task
};

// From the files all_results.json in the folder and in its subfolders; the last one for a task counts. Throws
// kFileNotFound, kInput when there is none, and what load_json throws.
LoadedResults load_results(const std::string& folder);

}  // namespace deberta
