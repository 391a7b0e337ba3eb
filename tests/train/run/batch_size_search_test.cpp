// Made-up steps that take a given number of bytes for each sample.
#include "train/run/batch_size_search.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <vector>

#include "deberta/error.h"
#include "support/expect_error.h"

namespace deberta::train::batch_size_search_test {
namespace {

struct Machine {
  size_t samples = 32;
  uint64_t base = 100, per_sample = 10;
  uint64_t crash = 1000000;  // a step that takes more finds no memory
  std::vector<size_t> tried = {};

  size_t find(size_t accumulation, uint64_t memory) {
    return find_accumulation({samples, accumulation, memory}, [&](size_t parts) -> std::optional<uint64_t> {
      tried.push_back(parts);
      const uint64_t taken = base + per_sample * (samples / parts);
      return taken > crash ? std::nullopt : std::optional(taken);
    });
  }
};

TEST(BatchSizeSearch, TakesTheWholeStepWhereMemoryHasRoomForIt) {
  Machine machine;
  EXPECT_EQ(machine.find(1, 1000), 1U);
  EXPECT_EQ(machine.tried, (std::vector<size_t>{32, 16, 8, 4, 2, 1})) << "the smallest parts first";
}

// 8 samples take 180 bytes, nine tenths of 205 are 184, 16 samples would take 260.
TEST(BatchSizeSearch, NeverTriesAStepThatMemoryHasNoRoomFor) {
  Machine machine;
  EXPECT_EQ(machine.find(1, 205), 4U);
  EXPECT_EQ(machine.tried, (std::vector<size_t>{32, 16, 8, 4}));
  EXPECT_EQ(Machine().find(1, 199), 8U) << "8 samples would take more than nine tenths";
}

// 16 samples are too much, 8 take nearly all: 4 leave room for what a run needs besides.
TEST(BatchSizeSearch, LeavesRoomBelowAStepThatRanOutOfMemory) {
  Machine machine{.crash = 200};
  EXPECT_EQ(machine.find(1, 1000), 8U);
  Machine small{.crash = 110};
  EXPECT_EQ(small.find(1, 1000), 32U);
}

TEST(BatchSizeSearch, PartsAreDivisorsAndAtLeastAsManyAsAreAskedFor) {
  Machine machine{.samples = 12};
  EXPECT_EQ(machine.find(3, 1000), 3U);
  EXPECT_EQ(machine.tried, (std::vector<size_t>{12, 6, 4, 3}));
  Machine single{.samples = 1};
  EXPECT_EQ(single.find(1, 0), 1U);
  EXPECT_TRUE(single.tried.empty());
}

TEST(BatchSizeSearch, ASampleThatIsTooMuchIsAnError) {
  Machine machine{.crash = 50};
  EXPECT_ERROR(machine.find(1, 1000), kOutOfMemory, "expected enough memory for a step in 32 parts, got too little");
}

TEST(BatchSizeSearch, KnowsWhenMemoryRanOut) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(is_out_of_memory(Error(ErrorCode::kOutOfMemory, "arena", "cannot allocate 9 bytes")));
  EXPECT_TRUE(is_out_of_memory(std::runtime_error("DefaultCPUAllocator: can't allocate memory: you tried")));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("no")));
  EXPECT_FALSE(is_out_of_memory(Error(ErrorCode::kUsage, "memory", "no")));
}

}  // namespace
}  // namespace deberta::train::batch_size_search_test
