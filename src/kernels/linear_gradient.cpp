// Products through the packed GEMM. For dW a block of X is packed transposed and a block of dY is turned, and dW is the
// residual of its own sum.
#include "kernels/linear_gradient.h"

#include <algorithm>

#include "base/arena.h"
#include "kernels/gemm.h"
#include "kernels/operand.h"
#include "kernels/row_blocks.h"
#include "kernels/transpose_rows.h"

namespace deberta {
namespace {

bool fits(const PackedWeights* w, const LinearGradientParams& p) {
  return w != nullptr && w->outputs == p.inputs && w->depth == p.outputs;
}

void check_arguments(const LinearGradientParams& p) {
  const auto needs = [](bool is_right, const char* what) { require(Operation::kGemm, is_right, what); };
  needs(p.precision != Precision::kInt8, "linear_gradient in int8");
  needs(p.dy_TN != nullptr && p.scratch != nullptr, "a null pointer in linear_gradient");
  needs(p.dx_TK == nullptr || fits(p.packed_w, p), "linear_gradient wants dx and has no w, or one of another size");
  needs(p.dw_NK == nullptr || p.x_TK != nullptr || p.x_bf16_TK != nullptr, "linear_gradient wants dw and has no x");
  needs(p.x_bf16_TK == nullptr || (p.x_TK == nullptr && p.precision == Precision::kBf16),
        "linear_gradient has two x, or one in bf16 for fp32");
  needs(p.dy_stride == 0 || p.dy_stride >= p.outputs, "rows of dy overlap in linear_gradient");
  needs(p.x_stride == 0 || p.x_stride >= p.inputs, "rows of x overlap in linear_gradient");
  needs(p.dx_stride == 0 || p.dx_stride >= p.inputs, "rows of dx overlap in linear_gradient");
}

// Where everything lies in scratch; from a null pointer: how much there is.
struct Layout {
  const KernelSet& kernels;
  const LinearGradientParams& p;
  size_t used = 0;
  void *dy, *turned, *x;

  Layout(const KernelSet& with, const LinearGradientParams& params) : kernels(with), p(params) {
    const bool wants_dw = p.dw_NK != nullptr;
    dy = take(rounds_dy() ? block() * dy_columns() * sizeof(Bf16) : 0);
    turned = take(wants_dw ? p.outputs * turned_columns() * element_bytes(p.precision) : 0);
    x = take(wants_dw ? gemm_packed_bytes(kernels, p.precision, inputs(0, block())) : 0);
  }
  void* take(size_t size_bytes) {
    void* at = p.scratch != nullptr ? static_cast<std::byte*>(p.scratch) + used : nullptr;
    used += Arena::bytes_for<std::byte>(size_bytes);
    return at;
  }
  bool rounds_dy() const { return p.dx_TK != nullptr && p.precision == Precision::kBf16; }
  size_t block() const { return std::min(p.rows, kGradientRows); }
  size_t dy_columns() const { return spread_columns(p.outputs, p.precision); }
  size_t turned_columns() const { return spread_columns(block(), p.precision); }
  WeightSource inputs(size_t t, size_t rows) const {  // dW[n,k] = sum_t dY[t,n] X[t,k]
    WeightSource source{.outputs = p.inputs, .depth = rows};
    source.w_KN_stride = p.x_stride > 0 ? p.x_stride : p.inputs;
    if (p.x_TK != nullptr) source.w_KN = p.x_TK + t * source.w_KN_stride;
    if (p.x_bf16_TK != nullptr) source.w_bf16_KN = p.x_bf16_TK + t * source.w_KN_stride;
    return source;
  }
  const float* dy_at(size_t t) const { return p.dy_TN + t * dy_stride(); }
  size_t dy_stride() const { return p.dy_stride > 0 ? p.dy_stride : p.outputs; }
};

void multiply_inputs(const Layout& at, size_t t, size_t rows) {
  const LinearGradientParams& p = at.p;
  GemmParams g{};
  g.a_MK = at.dy_at(t);
  g.a_stride = at.dy_stride();
  if (p.precision == Precision::kBf16) {
    g.a_MK = at.dy;
    g.a_stride = at.dy_columns();
  }
  g.rows = rows;
  g.weights = *p.packed_w;
  g.c_stride = p.dx_stride > 0 ? p.dx_stride : p.inputs;
  g.c_MN = p.dx_TK + t * g.c_stride;
  if (p.adds_dx) g.residual_MN = g.c_MN;
  g.parallel = p.parallel;
  gemm(at.kernels, g);
}

void turn_outputs(const Layout& at, size_t t, size_t rows) {
  const LinearGradientParams& p = at.p;
  TransposeRowsParams turn{};
  turn.x_TN = at.dy_at(t);
  turn.x_stride = at.dy_stride();
  turn.rows = rows;
  turn.columns = p.outputs;
  if (p.dw_NK != nullptr) {
    if (p.precision == Precision::kFp32) turn.y_NT = static_cast<float*>(at.turned);
    if (p.precision == Precision::kBf16) turn.y_bf16_NT = static_cast<Bf16*>(at.turned);
    turn.y_stride = at.turned_columns();
  }
  if (at.rounds_dy()) {
    turn.rounded_TN = static_cast<Bf16*>(at.dy);
    turn.rounded_stride = at.dy_columns();
  }
  turn.sums_N = p.db_N;
  turn.adds_sums = p.adds_weights || t > 0;
  turn.parallel = p.parallel;
  transpose_rows(at.kernels, turn);
}

void multiply_weights(const Layout& at, size_t t, size_t rows) {
  const LinearGradientParams& p = at.p;
  GemmParams g{};
  g.a_MK = at.turned;
  g.a_stride = at.turned_columns();
  g.rows = p.outputs;
  g.weights = gemm_pack(at.kernels, p.precision, at.inputs(t, rows), at.x, p.parallel);
  g.c_MN = p.dw_NK;
  if (p.adds_weights || t > 0) g.residual_MN = p.dw_NK;
  g.parallel = p.parallel;
  gemm(at.kernels, g);
}

// Without rows the gradients are zeros.
void clear_weights(const LinearGradientParams& p) {
  if (p.adds_weights) return;
  if (p.dw_NK != nullptr) std::fill_n(p.dw_NK, p.outputs * p.inputs, 0.0f);
  if (p.db_N != nullptr) std::fill_n(p.db_N, p.outputs, 0.0f);
}

}  // namespace

// dX[t,k] = sum_n dY[t,n] W[n,k]
WeightSource transposed_weight(const float* w_NK, size_t outputs, size_t inputs) {
  WeightSource source{.outputs = inputs, .depth = outputs};
  source.w_KN = w_NK;
  return source;
}

size_t linear_gradient_scratch_bytes(const KernelSet& kernels, const LinearGradientParams& params) {
  return Layout(kernels, params).used;
}

void linear_gradient(const KernelSet& kernels, const LinearGradientParams& params) {
  if (params.rows == 0) return clear_weights(params);
  check_arguments(params);
  const Layout at(kernels, params);
  for (size_t t = 0; t < params.rows; t += kGradientRows) {
    const size_t rows = std::min(kGradientRows, params.rows - t);
    if (params.dw_NK != nullptr || params.db_N != nullptr || at.rounds_dy()) turn_outputs(at, t, rows);
    if (params.dx_TK != nullptr) multiply_inputs(at, t, rows);
    if (params.dw_NK != nullptr) multiply_weights(at, t, rows);
  }
}

}  // namespace deberta
