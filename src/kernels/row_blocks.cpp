// The kernel for rows of a level; where results differ most.
#include "kernels/row_blocks.h"

#include <cmath>

namespace deberta {

const RowKernel* row_kernel(KernelLevel level) {
#if DEBERTA_HAS_X86
  if (level == KernelLevel::kAvx512) return &row_operations_avx512_kernel();
  if (level == KernelLevel::kAvx2) return &row_operations_avx2_kernel();
#endif
  (void)level;
  return nullptr;
}

WorstElement find_worst(std::span<const float> expected, size_t columns, const float* y, size_t y_stride) {
  WorstElement worst;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{y[i / columns * y_stride + i % columns]} - double{expected[i]});
    if (difference <= worst.difference) continue;
    worst = {difference, i / columns, i % columns};
    if (std::isnan(difference)) break;
  }
  return worst;
}

}  // namespace deberta
