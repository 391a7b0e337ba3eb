// The arena: aligned pieces from front to back, never beyond its block.
#include "base/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "support/expect_error.h"

// The sanitizers abort on an allocation that fails, unless told to return null.
#define DEBERTA_VISIBLE __attribute__((visibility("default")))
extern "C" {
DEBERTA_VISIBLE const char* __asan_default_options();
DEBERTA_VISIBLE const char* __tsan_default_options();
const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
}

namespace deberta::arena_test {
namespace {

TEST(Arena, GivesAlignedPiecesThatDoNotOverlap) {
  Arena arena;
  arena.reserve(Arena::bytes_for<float>(10) + Arena::bytes_for<char>(1) + Arena::bytes_for<double>(3));
  float* a = arena.take<float>(10);
  char* b = arena.take<char>(1);
  double* c = arena.take<double>(3);
  for (const void* piece : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c)}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % Arena::kAlignment, 0u);
  }
  std::memset(a, 1, 10 * sizeof(float));
  std::memset(b, 2, 1);
  std::memset(c, 3, 3 * sizeof(double));
  EXPECT_EQ(reinterpret_cast<char*>(a)[39], 1);
  EXPECT_EQ(*b, 2);
}

TEST(Arena, SaysWhatATakeUses) {
  EXPECT_EQ(Arena::bytes_for<float>(0), 0u);
  EXPECT_EQ(Arena::bytes_for<float>(1), 64u);
  EXPECT_EQ(Arena::bytes_for<float>(16), 64u);
  EXPECT_EQ(Arena::bytes_for<float>(17), 128u);
}

TEST(Arena, RefusesToGoBeyondItsBlock) {
  Arena arena;
  EXPECT_ERROR(arena.take<char>(1), kInternal, "arena: expected at most 0 bytes, got 1");
  arena.reserve(128);
  arena.take<char>(65);
  EXPECT_ERROR(arena.take<char>(1), kInternal, "expected at most 0 bytes, got 1");
  arena.reset();
  EXPECT_ERROR(arena.take<char>(129), kInternal, "expected at most 128 bytes");
  EXPECT_ERROR(arena.take<char>(std::numeric_limits<size_t>::max()), kInternal, "expected at most 128 bytes");
  EXPECT_NE(arena.take<char>(128), nullptr);
}

TEST(Arena, ResetGivesTheSameMemoryAgain) {
  Arena arena;
  arena.reserve(256);
  const float* first = arena.take<float>(4);
  arena.reset();
  EXPECT_EQ(arena.take<float>(4), first);
}

TEST(Arena, KeepsALargerBlockAndGrowsToAnother) {
  Arena arena;
  arena.reserve(1024);
  arena.take<char>(512);
  arena.reserve(100);
  EXPECT_EQ(arena.capacity_bytes(), 1024u);
  EXPECT_NE(arena.take<char>(1024), nullptr);  // reserving resets
  arena.reserve(4096);
  EXPECT_EQ(arena.capacity_bytes(), 4096u);
}

TEST(Arena, ReportsMemoryThatCannotBeHad) {
  Arena arena;
  arena.reserve(64);
  EXPECT_ERROR(arena.reserve(size_t{1} << 62), kOutOfMemory, "arena: cannot allocate 4611686018427387904 bytes");
  EXPECT_EQ(arena.capacity_bytes(), 0u);
  EXPECT_ERROR(arena.take<char>(1), kInternal, "got 1");
  arena.reserve(64);
  EXPECT_NE(arena.take<char>(64), nullptr);
}

// Pages that an earlier block left would stay small ones.
TEST(Arena, ALargeBlockHasNoPagesOfEarlierBlocks) {
  constexpr size_t kBlock = 8 << 20, kPage = 4096;
  for (int i = 0; i < 3; ++i) std::vector<char>(3 * kBlock, 'x');  // later ones come from the heap, and stay there
  Arena arena;
  arena.reserve(kBlock);
  std::vector<unsigned char> is_resident(kBlock / kPage);
  ASSERT_EQ(::mincore(arena.paged_block().data(), kBlock, is_resident.data()), 0);
  EXPECT_EQ(std::count_if(is_resident.begin(), is_resident.end(), [](unsigned char flags) { return flags & 1; }), 0);
}

}  // namespace
}  // namespace deberta::arena_test
