// GEMM, one output: sum_k a[m,k] w[n,k] in double, then the epilogue in double. int8 operands are read as the integers
// that they are.
#include "kernels/gemm.h"

#include "kernels/gemm_layout.h"
#include "kernels/reference/reference.h"

namespace deberta {
namespace {

double element(const GemmParams& p, size_t row, size_t k) {
  const size_t at = row * (p.a_stride > 0 ? p.a_stride : p.weights.depth) + k;
  if (p.weights.precision == Precision::kFp32) return double{static_cast<const float*>(p.a_MK)[at]};
  if (p.weights.precision == Precision::kBf16) return double{from_bf16(static_cast<const Bf16*>(p.a_MK)[at])};
  return static_cast<const uint8_t*>(p.a_MK)[at] - 128.0;
}

// The outlier columns of int8, which the sum of integers leaves out.
double side_product(const GemmParams& p, size_t row, size_t column) {
  const PackedWeights& w = p.weights;
  double sum = 0;
  for (size_t o = 0; o < w.quantizer.outliers; ++o) {
    sum += double{from_bf16(p.a_outliers_MO[row * w.quantizer.outliers + o])} *
           double{w.outliers_ON[o * w.outputs + column]};
  }
  return sum;
}

}  // namespace

double reference_gemm(const GemmParams& p, size_t row, size_t column) {
  const PackedWeights& w = p.weights;
  const PanelLayout layout(w.precision, w.level, w.depth);
  double sum = 0;
  for (size_t k = 0; k < w.depth; ++k) sum += element(p, row, k) * packed_weight(w, layout, column, k);
  if (w.precision == Precision::kInt8) {
    sum = sum * double{p.a_scales_M[row]} * double{w.scales_N[column]} + side_product(p, row, column);
  }
  if (p.bias_N != nullptr) sum += double{p.bias_N[column]};
  sum = activate(p.activation, sum);
  if (p.residual_MN != nullptr) sum += double{p.residual_MN[gemm_offset(p, row, column)]};
  return sum;
}

}  // namespace deberta
