// How rows of operands lie in memory.
#include "kernels/operand.h"

#include <gtest/gtest.h>

#include <set>

namespace deberta {
namespace {

TEST(Operand, RowsAreAnOddNumberOfCacheLinesAndHoldTheirColumns) {
  for (const Precision precision : {Precision::kBf16, Precision::kInt8}) {
    for (const size_t columns : {1u, 8u, 31u, 64u, 768u, 1024u, 3072u, 4096u}) {
      const size_t stride = spread_columns(columns, precision);
      EXPECT_GE(stride, columns);
      EXPECT_LT(stride * element_bytes(precision), columns * element_bytes(precision) + 2 * 64);
      EXPECT_EQ(stride * element_bytes(precision) % 64, 0u);
      EXPECT_EQ(stride * element_bytes(precision) / 64 % 2, 1u) << columns;
    }
  }
}

// An L1 cache of 64 sets: the 32 rows of a tile read one line each.
TEST(Operand, RowsOfATileFallIntoSetsOfTheirOwn) {
  for (const size_t columns : {768u, 1024u, 3072u, 4096u}) {
    std::set<size_t> sets;
    for (size_t row = 0; row < 32; ++row) {
      sets.insert(row * spread_columns(columns, Precision::kBf16) * sizeof(Bf16) / 64 % 64);
    }
    EXPECT_EQ(sets.size(), 32u) << columns;
  }
}

}  // namespace
}  // namespace deberta
