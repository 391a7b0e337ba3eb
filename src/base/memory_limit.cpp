// Asks the system; a limit that cannot be read counts as none.
#include "base/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "base/file.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

uint64_t machine_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return kNoLimit;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
}

// cgroup v2: "max" or a number of bytes.
uint64_t cgroup_bytes() {
  try {
    const std::string text = read_file("/sys/fs/cgroup/memory.max", 4096);
    return parse_number<uint64_t>(std::string_view(text).substr(0, text.find('\n'))).value_or(kNoLimit);
  } catch (const Error&) {
    return kNoLimit;
  }
}

uint64_t address_space_bytes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return limit.rlim_cur;
}

}  // namespace

uint64_t memory_limit_bytes() {
  return std::min({machine_bytes(), cgroup_bytes(), address_space_bytes()});
}

}  // namespace deberta
