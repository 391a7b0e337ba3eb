// The process that works on a file: which one it is, and whether it is known to have ended.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"

namespace deberta::jobs {

struct Owner {
  std::string host;           // for people
  std::string boot;           // the system's id since it started; empty: unknown
  std::string pid_namespace;  // "pid:[4026531836]"; empty: unknown
  int64_t pid = 0;
  int64_t start_ticks = 0;  // since the system started: a later process with the same number began later
};

Owner this_process();

// Whether the process is known to have ended. Only one of the same system and the same namespace of numbers can tell.
bool has_ended(const Owner& owner, const Owner& here);

Json to_json(const Owner& owner);
std::optional<Owner> owner_from(const Json& object);  // none for anything else

}  // namespace deberta::jobs
