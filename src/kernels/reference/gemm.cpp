// GEMM, one output: sum_k a[m,k] w[n,k] in double, then the epilogue in double.
#include "kernels/gemm.h"
#include "kernels/reference/reference.h"

namespace deberta {

double reference_gemm(const GemmParams& p, size_t row, size_t column) {
  const PackedWeights& w = p.weights;
  const float* a_K = p.a_MK + row * (p.a_stride > 0 ? p.a_stride : w.depth);
  const float* panel_KW = w.panels + column / w.panel_width * w.depth * w.panel_width;
  double sum = 0;
  for (size_t k = 0; k < w.depth; ++k)
    sum += double{a_K[k]} * double{panel_KW[k * w.panel_width + column % w.panel_width]};
  if (p.bias_N != nullptr) sum += double{p.bias_N[column]};
  sum = activate(p.activation, sum);
  if (p.residual_MN != nullptr) sum += double{p.residual_MN[gemm_offset(p, row, column)]};
  return sum;
}

}  // namespace deberta
