// A temporary file that was there before its claim was looked for, and has none, has no owner either: a process that
// claims the file later makes another one.
#include "jobs/leftovers.h"

#include <fmt/core.h>

#include <string_view>

#include "base/folder.h"
#include "base/temporary.h"
#include "deberta/error.h"

namespace deberta::jobs {
namespace {

// Of "a.jsonl.tmp-12-0123abcd": "a.jsonl"; empty for another name.
std::string target_of(const std::string& name) {
  const size_t mark = name.rfind(kTemporaryMark);
  const std::string target = mark == std::string::npos ? "" : name.substr(0, mark);
  return is_temporary_of(name, target) ? target : "";
}

std::string without_record_ending(std::string name) {
  for (const std::string_view ending : {".claim", ".done", ".failed"}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

std::set<std::string> targets_in(const std::string& folder) {
  std::set<std::string> targets;
  for (const std::string& name : names_in(folder)) {
    if (std::string target = target_of(name); !target.empty()) targets.insert(std::move(target));
  }
  return targets;
}

}  // namespace

void remove_temporaries_of(const std::string& target) {
  try {
    remove_leftovers(target);
  } catch (const Error&) {  // another process was faster
  }
}

void remove_dead_temporaries(const std::string& folder, const std::set<std::string>& folders,
                             const std::function<bool(const std::string& name)>& is_claimed) {
  for (const std::string& below : folders) {
    const std::string prefix = below.empty() ? "" : below + "/";
    for (const std::string& place : {folder + "/" + prefix, fmt::format("{}/{}/{}", folder, kRecordsFolder, prefix)}) {
      for (const std::string& target : targets_in(place)) {
        if (!is_claimed(prefix + without_record_ending(target))) remove_temporaries_of(place + target);
      }
    }
  }
}

}  // namespace deberta::jobs
