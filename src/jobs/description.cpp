// Compares member by member, so that the message names what differs.
#include "jobs/description.h"

#include <fmt/format.h>

#include <vector>

#include "base/file.h"
#include "deberta/error.h"
#include "jobs/record.h"

namespace deberta::jobs {
namespace {

constexpr size_t kMostShown = 30;  // bytes of a value; a longer one, such as a hash, says nothing

std::string shown(const Json* value) {
  return value == nullptr ? "none" : value->dump();
}

void add_differences(const Json& there, const Json& here, std::vector<std::string>& differences);

void add_difference(const std::string& key, const Json* there, const Json* here,
                    std::vector<std::string>& differences) {
  const std::string before = shown(there), now = shown(here);
  if (before == now) return;
  if (there != nullptr && here != nullptr && there->is_object() && here->is_object())
    return add_differences(*there, *here, differences);
  const bool is_long = before.size() > kMostShown || now.size() > kMostShown;
  differences.push_back(is_long ? fmt::format("another {}", key)
                                : fmt::format("{} is {} there and {} here", key, before, now));
}

void add_differences(const Json& there, const Json& here, std::vector<std::string>& differences) {
  for (const JsonMember& member : here.as_object())
    add_difference(member.first, there.find(member.first), &member.second, differences);
  for (const JsonMember& member : there.as_object()) {
    if (here.find(member.first) == nullptr) add_difference(member.first, &member.second, nullptr, differences);
  }
}

}  // namespace

void check_description(const std::string& path, const Json& description, const std::string& folder) {
  if (!is_regular_file(path)) write_record(path, description);
  const Json there = load_json(path);
  std::vector<std::string> differences;
  add_difference("job", &there, &description, differences);
  if (differences.empty()) return;
  throw Error(
      ErrorCode::kUsage, folder,
      fmt::format("expected the options and the model of the answers that it holds, got others ({}); use another "
                  "folder, or remove {} if none of its answers is wanted",
                  fmt::join(differences, ", "), path.substr(0, path.rfind('/'))));
}

}  // namespace deberta::jobs
