// Rounding to bf16; where results differ most.
#include "kernels/row_blocks.h"

#include <algorithm>

namespace deberta {

void narrow_row(const RowKernel* kernel, const float* x, Bf16* y, size_t columns) {
  if (kernel != nullptr) return kernel->narrow(x, y, columns);
  std::transform(x, x + columns, y, to_bf16);
}

void widen_row(const RowKernel* kernel, const Bf16* x, float* y, size_t columns) {
  if (kernel != nullptr) return kernel->widen(x, y, columns);
  std::transform(x, x + columns, y, from_bf16);
}

WorstElement find_worst(std::span<const float> expected, size_t columns, const float* y, size_t y_stride) {
  return find_worst(expected.size() / columns, columns, [&](size_t row, size_t column) {
    return double{y[row * y_stride + column]} - double{expected[row * columns + column]};
  });
}

}  // namespace deberta
