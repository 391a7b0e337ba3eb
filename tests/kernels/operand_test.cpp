// How rows of operands lie in memory.
#include "kernels/operand.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/implementations.h"

namespace deberta::operand_test {
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

// What the bf16 GEMM multiplies by a zero of the weights: with anything else there, a NaN would spoil the row.
TEST(Operand, AnOddRowThatIsRoundedEndsInAZero) {
  constexpr Bf16 kNanBits = 0x7fc0;
  for (const KernelLevel level : test::levels_of(Operation::kQuantize)) {
    const KernelSet kernels = select_kernels(to_string(level));
    for (const size_t columns : {1u, 2u, 15u, 16u, 41u, 64u}) {
      for (const size_t stride : {columns, columns + 1, columns + 7}) {
        const size_t rows = 3;
        const std::vector<float> x(rows * columns, 1.5f);
        std::vector<Bf16> y(rows * stride + 1, kNanBits);
        round_to_bf16(kernels, x.data(), rows, columns, y.data(), stride, serial());
        EXPECT_EQ(y.back(), kNanBits) << "nothing is written behind the last row";
        for (size_t row = 0; row < rows; ++row) {
          const bool has_zero = columns % 2 != 0 && stride > columns;
          if (stride > columns) {
            EXPECT_EQ(y[row * stride + columns], has_zero ? 0 : kNanBits) << columns << " of " << stride;
          }
          for (size_t k = 0; k < columns; ++k) EXPECT_EQ(y[row * stride + k], 0x3fc0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace deberta::operand_test
