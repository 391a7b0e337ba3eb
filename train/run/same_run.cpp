// Compares the options and hashes of a checkpoint with those of this run, and reports all differences at once.
#include "train/run/same_run.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/nearest.h"
#include "base/refuse_argument.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

// One number in two spellings, such as 2e-4 and 0.0002, is one value.
bool is_same_value(const std::string& before, const std::string& now) {
  if (before == now) return true;
  const auto old = parse_number<double>(before), number = parse_number<double>(now);
  return old && number && *old == *number;
}

using IsSame = bool (*)(const std::string& before, const std::string& now);
using Says = std::string (*)(const std::string& before, const std::string& now);

std::string says_values(const std::string& before, const std::string& now) {
  return ": expected " + before + " as in the run so far, got " + now;
}

bool is_same_hash(const std::string& before, const std::string& now) {
  return before == now;
}

// People compare the first digits of a SHA-256.
std::string says_hashes(const std::string& before, const std::string& now) {
  if (before.empty() || now.empty())
    return before.empty() ? ": expected none, since the run began without one, got one"
                          : ": expected what the run began with (SHA-256 " + before.substr(0, 8) + "...), got none";
  return ": expected what the run began with (SHA-256 " + before.substr(0, 8) + "...), got another (" +
         now.substr(0, 8) + "...)";
}

void compare(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
             const std::vector<std::string>& overridden, const std::string& folder, IsSame is_same, Says says,
             std::vector<Problem>& problems) {
  for (const auto& [name, value] : now) {
    const auto old = before.find(name);
    if (old == before.end() || is_same(old->second, value)) continue;
    if (std::find(overridden.begin(), overridden.end(), name) != overridden.end()) continue;
    problems.push_back({.where = folder, .message = name + says(old->second, value)});
  }
}

// What the run began without, or goes on without, is another thing too.
std::map<std::string, std::string> with_names_of(std::map<std::string, std::string> hashes,
                                                 const std::map<std::string, std::string>& other_hashes) {
  for (const auto& [name, hash] : other_hashes) hashes.try_emplace(name, "");
  return hashes;
}

}  // namespace

void check_same_run(const TrainerState& before, const TrainerState& now, const std::vector<std::string>& overridden,
                    const std::string& folder) {
  std::vector<Problem> problems;
  compare(before.options, now.options, overridden, folder, is_same_value, says_values, problems);
  compare(with_names_of(before.hashes, now.hashes), with_names_of(now.hashes, before.hashes), overridden, folder,
          is_same_hash, says_hashes, problems);
  if (problems.empty()) return;
  problems.back().remedies = {{"name a new folder with {}", "output_dir"},
                              {"give what the run began with"},
                              {"name what may change in {}", "resume_override"}};
  throw Error(ErrorCode::kUsage, std::move(problems));
}

void check_overridden(const std::vector<std::string>& overridden, const TrainerState& now, const TrainerState* before) {
  std::vector<std::string_view> known;
  for (const auto& [name, value] : now.options) known.push_back(name);
  for (const auto& [name, hash] : now.hashes) known.push_back(name);
  for (const auto& [name, hash] : before == nullptr ? now.hashes : before->hashes) known.push_back(name);
  for (const std::string& name : overridden) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string_view near = nearest_match(name, known);
    refuse_argument("resume_override", "expected names of options that a run compares, without dashes, got \"" + name +
                                           "\"" + (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
  }
}

}  // namespace deberta::train
