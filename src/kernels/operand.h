// What a precision means for operands in memory: the bytes of a number, the precision that attention runs in, rounding
// to bf16 and back. Not here: int8 (quantize.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"

namespace deberta {

// Bytes per element of an activation as matrix products and attention read it.
inline size_t element_bytes(Precision precision) {
  if (precision == Precision::kFp32) return sizeof(float);
  return precision == Precision::kBf16 ? sizeof(Bf16) : sizeof(uint8_t);
}

// Elements between rows of bf16 or u8 as the engine lays them out: an odd number of cache lines, so that the 32 rows of
// a tile do not share the few sets of the first-level cache that their length would give them.
inline size_t spread_columns(size_t columns, Precision precision) {
  constexpr size_t kLine = 64;
  const size_t lines = (columns * element_bytes(precision) + kLine - 1) / kLine;
  return (lines | 1) * kLine / element_bytes(precision);
}

// For a model in `precision`. In int8, attention, its tables and what stays between products are bf16.
inline Precision attention_precision(Precision precision) {
  return precision == Precision::kFp32 ? Precision::kFp32 : Precision::kBf16;
}

// Rows that lie one after the other, as the bf16 GEMM reads them: y_stride elements apart, with a zero behind an odd
// number of columns where there is room. The same bits on every implementation.
void round_to_bf16(const KernelSet& kernels, const float* x_TK, size_t rows, size_t columns, Bf16* y_TK,
                   size_t y_stride, const Parallel& parallel);

// The numbers of such rows in fp32, one row after the other.
void widen_from_bf16(const KernelSet& kernels, const Bf16* x_TK, size_t x_stride, size_t rows, size_t columns,
                     float* y_TK, const Parallel& parallel);

}  // namespace deberta
