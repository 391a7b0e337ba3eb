// GEMM, one output: sum_k a[m,k] w[n,k] in double, then the epilogue in double. int8 operands are read as the integers
// that they are.
#include "kernels/gemm.h"

#include <algorithm>

#include "kernels/gemm_layout.h"
#include "kernels/reference/reference.h"

namespace deberta {
namespace {

double number(float x) {
  return double{x};
}
double number(Bf16 bits) {
  return double{from_bf16(bits)};
}
double number(uint8_t shifted) {
  return shifted - 128.0;
}
double number(int8_t q) {
  return q;
}
double number(int16_t q) {
  return q;
}

// sum_k a[k] w[k]; an output's weights lie in runs of `group` consecutive k, `step` apart.
template <class A, class W>
double dot(const A* a_K, const W* w, size_t depth, size_t group, size_t step) {
  double sum = 0;
  for (size_t begin = 0; begin < depth; begin += group, w += step) {
    const size_t end = std::min(begin + group, depth);
    for (size_t k = begin; k < end; ++k) sum += number(a_K[k]) * number(w[k - begin]);
  }
  return sum;
}

template <class A, class W>
double product(const GemmParams& p, const PanelLayout& layout, size_t row, size_t column) {
  const size_t stride = p.a_stride > 0 ? p.a_stride : p.weights.depth;
  return dot(static_cast<const A*>(p.a_MK) + row * stride,
             static_cast<const W*>(p.weights.panels) + layout.index(column, 0), p.weights.depth, layout.group,
             layout.width * layout.group);
}

double product(const GemmParams& p, size_t row, size_t column) {
  const PanelLayout layout(p.weights.precision, p.weights.level, p.weights.depth);
  if (p.weights.precision == Precision::kFp32) return product<float, float>(p, layout, row, column);
  if (p.weights.precision == Precision::kBf16) return product<Bf16, Bf16>(p, layout, row, column);
  if (layout.element == sizeof(int16_t)) return product<uint8_t, int16_t>(p, layout, row, column);
  return product<uint8_t, int8_t>(p, layout, row, column);
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
  double sum = product(p, row, column);
  if (w.precision == Precision::kInt8) {
    sum = sum * double{p.a_scales_M[row]} * double{w.scales_N[column]} + side_product(p, row, column);
  }
  if (p.bias_N != nullptr) sum += double{p.bias_N[column]};
  sum = activate(p.activation, sum);
  if (p.residual_MN != nullptr) sum += double{p.residual_MN[gemm_offset(p, row, column)]};
  return sum;
}

}  // namespace deberta
