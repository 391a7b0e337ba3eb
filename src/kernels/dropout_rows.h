// Dropout of rows [T, D], a pure function of logical indices (model-training.md#dropout; dropout.h): element
// (sequence b of the whole batch, position i in the sequence, column c) is
//   byte c % 16 of the Philox counter (i, c / 16, b, layer | step << 8)
// So packed = padded, forward = backward: the gradient is dropped by the same call. Each place of a model has its own
// seed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"
#include "kernels/dropout.h"
#include "kernels/row_kernel.h"

namespace deberta {

struct RowDropout {
  Dropout dropout;
  // Which sequence a row belongs to: cu_seqlens [B + 1] of the rows. Null: the rows are a table that all sequences
  // share (b = 0 whatever the sequence_offset, i = the row), as the relative one.
  const int32_t* starts = nullptr;
  size_t sequences = 0;                  // B
  const int32_t* positions_T = nullptr;  // position of each row in its sequence; null: 0, 1, ...

  bool is_on() const { return dropout.threshold() > 0; }
};

// Throws kInternal for a rate outside [0, 1) and for starts that do not cover the rows.
void check_dropout(const RowDropout& dropout, size_t rows);

// y = x * (0 or scale), row `row`; y may be x. A NaN stays one. `kernel` null: the reference; all give the same bits.
void dropout_row(const RowKernel* kernel, const RowDropout& dropout, size_t row, const float* x_D, float* y_D,
                 size_t columns);

struct DropoutRowsParams {
  RowDropout dropout;  // off: y = x
  const float* x_TD = nullptr;
  float* y_TD = nullptr;  // may be x
  size_t rows = 0;
  size_t columns = 0;
  Parallel parallel = serial();
};

// No allocation. Throws kInternal for null pointers and what check_dropout refuses.
void dropout_rows(const KernelSet& kernels, const DropoutRowsParams& params);

}  // namespace deberta
