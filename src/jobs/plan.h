// From inputs to their outputs: a name for each in one folder.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deberta::jobs {

struct JobFile {
  std::string input;   // its path
  std::string name;    // of its output, in the folder: "a.jsonl", "2024/a.jsonl"
  uint64_t bytes = 0;  // of the input; 0 where there is none, which its turn will tell
};

// The files that words name: a path, or a pattern with * ? [] where no file has that name. Throws kUsage for a pattern
// without a file, and for a folder.
std::vector<std::string> find_inputs(const std::vector<std::string>& words);

// An input's name without the endings of its compression and its form, and with `ending`: "in/a.csv.gz" becomes
// "a.jsonl". Where two have the same name, all keep the folders below those that they share. An input that is given
// twice is one. Throws kUsage for two inputs of one output, for an output that is an input, and for a name that leaves
// no room for those beside it.
std::vector<JobFile> plan_files(const std::vector<std::string>& inputs, const std::string& folder,
                                std::string_view ending);

}  // namespace deberta::jobs
