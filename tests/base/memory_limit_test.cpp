// The memory limit that the process can set for itself.
#include "base/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace deberta::memory_limit_test {
namespace {

TEST(MemoryLimit, IsAtMostTheMachineAndTheAddressSpaceAllowed) {
  const uint64_t limit = memory_limit_bytes();
  EXPECT_GT(limit, uint64_t{1} << 24);
  EXPECT_LT(limit, uint64_t{1} << 50);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit smaller = before;
  smaller.rlim_cur = limit - 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &smaller), 0);
  rlimit taken{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &taken), 0);
  if (taken.rlim_cur != smaller.rlim_cur) GTEST_SKIP() << "an emulator that keeps its own address space";
  EXPECT_EQ(memory_limit_bytes(), limit - 4096);
  ::setrlimit(RLIMIT_AS, &before);
}

}  // namespace
}  // namespace deberta::memory_limit_test
