// What /proc says of a process.
#include "jobs/owner.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/checked.h"
#include "base/utf8.h"
#include "jobs/member_reader.h"

namespace deberta::jobs {
namespace {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "";
  return replace_invalid_utf8(name.data());
}

// Empty where there is none.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  file.exceptions(std::ios::badbit);  // else memory that it does not get is the end
  try {
    std::getline(file, line);
  } catch (const std::ios_base::failure&) {
    return "";
  }
  return line;
}

std::string link_target(const char* path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path, target.data(), target.size());
  return size < 0 ? "" : std::string(target.data(), static_cast<size_t>(size));
}

// The 22nd field of /proc/PID/stat; the second, in parentheses, may hold anything. 0: unknown.
int64_t start_of(int64_t pid) {
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid));
  const size_t end = line.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(line.substr(end + 1));
  constexpr int kFieldsBetween = 20;
  std::string field;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> field;
  return parse_number<int64_t>(field).value_or(0);
}

}  // namespace

Owner this_process() {
  const int64_t pid = ::getpid();
  return {.host = host_name(),
          .boot = first_line("/proc/sys/kernel/random/boot_id"),
          .pid_namespace = link_target("/proc/self/ns/pid"),
          .pid = pid,
          .start_ticks = start_of(pid)};
}

bool has_ended(const Owner& owner, const Owner& here) {
  const bool is_near = !here.boot.empty() && !here.pid_namespace.empty() && owner.boot == here.boot &&
                       owner.pid_namespace == here.pid_namespace;
  if (!is_near || owner.pid <= 0 || owner.pid > INT_MAX) return false;
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return true;
  const int64_t start = start_of(owner.pid);
  return start != 0 && owner.start_ticks != 0 && start != owner.start_ticks;
}

Json to_json(const Owner& owner) {
  return JsonObject{{"host", owner.host},
                    {"boot", owner.boot},
                    {"pid_namespace", owner.pid_namespace},
                    {"pid", owner.pid},
                    {"start_ticks", owner.start_ticks}};
}

std::optional<Owner> owner_from(const Json& object) {
  MemberReader members(object);
  Owner owner{.host = members.text("host"),
              .boot = members.text("boot"),
              .pid_namespace = members.text("pid_namespace"),
              .pid = members.number("pid"),
              .start_ticks = members.number("start_ticks")};
  return members.has_failed() ? std::nullopt : std::optional(std::move(owner));
}

}  // namespace deberta::jobs
