// Rows of fp32 from one matrix to another by their numbers. Copies alone, or one sum in fp32 for each element.
// N rows moved  T rows of the other matrix  D columns
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

struct RowMoveParams {
  const float* x = nullptr;
  const int32_t* rows_N = nullptr;  // row of the matrix that is read (scatter_rows: written); null: 0, 1, ...
  size_t rows = 0;                  // N
  size_t columns = 0;               // D
  float* y = nullptr;
  Parallel parallel = serial();
};

void gather_rows(const KernelSet& kernels, const RowMoveParams& params);   // y[n] = x[rows[n]]
void scatter_rows(const KernelSet& kernels, const RowMoveParams& params);  // y[rows[n]] = x[n]; rows ascend
void add_rows(const KernelSet& kernels, const RowMoveParams& params);      // y[n] += x[rows[n]]

}  // namespace deberta
