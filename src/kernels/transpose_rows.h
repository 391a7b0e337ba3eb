// y[n,t] = x[t,n], in fp32 or rounded to bf16, x itself rounded to bf16, and the sums of its columns: what the
// gradients of a weight, of its input and of its bias need of dY. Sums are one chain over ascending t for each column;
// no bit depends on threads or on the implementation.
// T rows  N columns
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"

namespace deberta {

struct TransposeRowsParams {
  const float* x_TN = nullptr;
  size_t x_stride = 0;         // elements between rows; 0: N
  size_t rows = 0;             // T
  size_t columns = 0;          // N
  float* y_NT = nullptr;       // at most one of the two
  Bf16* y_bf16_NT = nullptr;   // an odd T gets a zero behind each row, as the GEMM reads it
  size_t y_stride = 0;         // elements between rows of y, at least T (bf16: rounded up to even); 0: that
  Bf16* rounded_TN = nullptr;  // null: not wanted; an odd N gets a zero behind each row
  size_t rounded_stride = 0;   // needed with it
  float* sums_N = nullptr;     // null: not wanted
  bool adds_sums = false;      // added to the existing values
  Parallel parallel = serial();
};

// No allocation. Throws kInternal for null pointers and rows that overlap.
void transpose_rows(const KernelSet& kernels, const TransposeRowsParams& params);

}  // namespace deberta
