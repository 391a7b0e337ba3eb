// Creates a temporary under a random name, locks it with flock(), and checks that it was not removed in between.
#include "base/temporary.h"

#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/checked.h"
#include "base/file_id.h"
#include "base/random_bits.h"

namespace deberta {
namespace {

constexpr size_t kRandomDigits = 8;
constexpr int kAttempts = 100;

}  // namespace

bool leads_to(const std::string& path, int fd) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 && id_of(named) == id_of(opened);
}

std::string temporary_name(const std::string& target) {
  return fmt::format("{}{}{}-{:08x}", target, kTemporaryMark, ::getpid(), random_bits());
}

bool is_temporary_of(std::string_view name, std::string_view target) {
  const std::string begin = fmt::format("{}{}", target, kTemporaryMark);
  if (!name.starts_with(begin)) return false;
  name.remove_prefix(begin.size());
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos || name.size() - dash - 1 != kRandomDigits) return false;
  if (name.find_first_not_of("0123456789abcdef", dash + 1) != std::string_view::npos) return false;
  const auto pid = parse_number<pid_t>(name.substr(0, dash));
  return pid && *pid > 0;
}

int make_temporary(const std::string& target, std::string& path, const std::function<int(const std::string&)>& make) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    path = temporary_name(target);
    const int fd = make(path);
    if (fd < 0 && errno != EEXIST) return -1;
    if (fd < 0) continue;
    const bool is_taken = !try_lock(fd) && errno == EWOULDBLOCK;
    if (!is_taken && leads_to(path, fd)) return fd;
    ::close(fd);
  }
  errno = EEXIST;
  return -1;
}

bool try_lock(int fd) {
  int result = 0;
  do result = ::flock(fd, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace deberta
