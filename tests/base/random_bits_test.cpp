// Bits for names and secrets.
#include "base/random_bits.h"

#include <gtest/gtest.h>

#include <set>

namespace deberta::random_bits_test {
namespace {

TEST(RandomBits, DifferAndReachEveryBit) {
  std::set<uint32_t> drawn;
  uint32_t ones = 0, zeros = 0;
  for (int i = 0; i < 64; ++i) {
    const uint32_t bits = random_bits();
    drawn.insert(bits);
    ones |= bits;
    zeros |= ~bits;
  }
  EXPECT_GT(drawn.size(), 60u);
  EXPECT_EQ(ones, ~uint32_t{0});
  EXPECT_EQ(zeros, ~uint32_t{0});
}

}  // namespace
}  // namespace deberta::random_bits_test
