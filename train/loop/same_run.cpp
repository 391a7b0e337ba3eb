#include "train/loop/same_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "deberta/error.h"

namespace deberta::train {
namespace {

void compare(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
             const std::vector<std::string>& overridden, const std::string& folder, std::vector<Problem>& problems) {
  for (const auto& [name, value] : now) {
    const auto old = before.find(name);
    if (old == before.end() || old->second == value) continue;
    if (std::find(overridden.begin(), overridden.end(), name) != overridden.end()) continue;
    problems.push_back(
        {.where = folder, .message = name + ": expected " + old->second + " as in the run so far, got " + value});
  }
}

}  // namespace

void check_same_run(const TrainerState& before, const TrainerState& now, const std::vector<std::string>& overridden,
                    const std::string& folder) {
  std::vector<Problem> problems;
  compare(before.options, now.options, overridden, folder, problems);
  compare(before.hashes, now.hashes, overridden, folder, problems);
  if (problems.empty()) return;
  problems.back().remedies = {
      {"give what the run began with"}, {"name another folder"}, {"name what may change in {}", "resume_override"}};
  throw Error(ErrorCode::kUsage, std::move(problems));
}

}  // namespace deberta::train
