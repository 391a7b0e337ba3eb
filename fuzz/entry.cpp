// libFuzzer's functions, around fuzz::run.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "deberta/error.h"
#include "fuzz.h"
#include "support/paths.h"

namespace deberta::fuzz {
namespace {

std::optional<test::TemporaryFolder> temporary;

// Of this thread: other programs on the machine do not count.
double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

void fail(const char* invariant, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, invariant);
  std::abort();
}

const std::string& folder() {
  if (!temporary) {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    temporary.emplace();
    std::atexit([] { temporary.reset(); });
  }
  return temporary->path();
}

}  // namespace deberta::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr double kMaxSeconds = 1;
  const double begin = deberta::fuzz::processor_seconds();
  try {
    deberta::fuzz::run({reinterpret_cast<const std::byte*>(data), size});
  } catch (const deberta::Error& error) {
    FUZZ_REQUIRE(error.code() != deberta::ErrorCode::kInternal);
    FUZZ_REQUIRE(!error.problems().empty());
  }
  FUZZ_REQUIRE(deberta::fuzz::processor_seconds() - begin < kMaxSeconds);
  return 0;
}
