// Rounding of rows to bf16, and back.
#include "kernels/operand.h"

#include "kernels/row_blocks.h"

namespace deberta {

void round_to_bf16(const KernelSet& kernels, const float* x_TK, size_t rows, size_t columns, Bf16* y_TK,
                   size_t y_stride, const Parallel& parallel) {
  const OperationScope scope(kernels, {x_TK, y_TK});
  const RowKernel* kernel = kernel_of(kernels.level_of(Operation::kQuantize), &ImplementationRow::rows);
  const bool has_zero = columns % 2 != 0 && y_stride > columns;
  for_each_row(parallel, rows, columns, [&](size_t row) {
    Bf16* y_K = y_TK + row * y_stride;
    narrow_row(kernel, x_TK + row * columns, y_K, columns);
    if (has_zero) y_K[columns] = Bf16{};
  });
}

void widen_from_bf16(const KernelSet& kernels, const Bf16* x_TK, size_t x_stride, size_t rows, size_t columns,
                     float* y_TK, const Parallel& parallel) {
  const RowKernel* kernel = kernel_of(kernels.level_of(Operation::kQuantize), &ImplementationRow::rows);
  for_each_row(parallel, rows, columns,
               [&](size_t row) { widen_row(kernel, x_TK + row * x_stride, y_TK + row * columns, columns); });
}

}  // namespace deberta
