// Rounding of rows to bf16.
#include "kernels/operand.h"

#include "kernels/row_blocks.h"

namespace deberta {

void round_to_bf16(const KernelSet& kernels, const float* x_TK, size_t rows, size_t columns, Bf16* y_TK,
                   size_t y_stride, const Parallel& parallel) {
  const RowKernel* kernel = row_kernel(kernels.level_of(Operation::kQuantize));
  for_each_row(parallel, rows, columns,
               [&](size_t row) { narrow_row(kernel, x_TK + row * columns, y_TK + row * y_stride, columns); });
}

}  // namespace deberta
