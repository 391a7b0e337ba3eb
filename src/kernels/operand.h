// What a precision means for operands in memory: the bytes of a number, the precision that attention runs in, and
// rounding to bf16. Not here: int8 (quantize.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"

namespace deberta {

// Of an activation as matrix products and attention read it.
inline size_t element_bytes(Precision precision) {
  if (precision == Precision::kFp32) return sizeof(float);
  return precision == Precision::kBf16 ? sizeof(Bf16) : sizeof(uint8_t);
}

// Of a model in `precision`: attention, its tables and what stays between int8 products are bf16.
inline Precision attention_precision(Precision precision) {
  return precision == Precision::kFp32 ? Precision::kFp32 : Precision::kBf16;
}

// Rows that lie one after the other, as the bf16 GEMM reads them. The same bits on every implementation.
void round_to_bf16(const KernelSet& kernels, const float* x_TK, size_t rows, size_t columns, Bf16* y_TK,
                   const Parallel& parallel);

}  // namespace deberta
