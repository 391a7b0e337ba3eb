// What one instruction set offers for operations on one row. Types only: files compiled with wider flags include this
// header, and an inline function in it could end up as the whole program's copy.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_kernel.h"

namespace deberta {

// y[d] = (z[d] - mean(z)) / sqrt(variance(z) + epsilon) * gamma[d] + beta[d],  z = x + residual.
struct NormRow {
  const float* x_D;
  const float* residual_D;  // may be null
  const float* gamma_D;
  const float* beta_D;
  float* y_D;  // may be x or the residual
  size_t columns;
  double epsilon;
  float* z_D;         // null: not wanted; may be x
  float* statistics;  // null: not wanted; the mean, and 1 / sqrt(variance + epsilon)
};

// dz[d] = inverse (g[d] - mean(g) - n[d] mean(g n)),  n = (z - mean) inverse,  g = dy gamma; dy n is added to dgamma,
// dy to dbeta.
struct NormGradientRow {
  const float* dy_D;
  const float* z_D;
  float mean;
  float inverse;
  const float* gamma_D;
  float* dz_D;  // may be dy
  float* dgamma_D;
  float* dbeta_D;
  size_t columns;
};

// a'[k] = x[k] * reciprocal[k]; exactly one x is set.
struct ScaledRow {
  const float* x_K;
  const uint16_t* x_bf16_K;
  const float* reciprocal_K;  // null: ones
  size_t columns;
};

// x[e] = sum of one to three rows of tables, in order.
struct SumRow {
  const void* rows[3];  // any alignment
  int formats[3];       // 0 fp32, 1 fp16, 2 bf16
  size_t count;
  float* x_E;
  size_t columns;
};

// y[c] = x[c] * (0 or scale): the bytes of the row's position, with columns in place of keys.
struct DroppedRow {
  AttentionDropout dropout;
  uint32_t position;
  const float* x_D;
  float* y_D;      // may be x
  size_t columns;  // at most kMostDropped
};
constexpr size_t kMostDropped = 8192;

struct RowKernel {
  void (*norm)(const NormRow& row);
  void (*narrow)(const float* x, uint16_t* y_bf16, size_t columns);  // to nearest even, a NaN stays a quiet NaN
  void (*widen)(const uint16_t* x_bf16, float* y, size_t columns);
  uint32_t (*largest)(const ScaledRow& row);                         // the bits of max |a'|: NaN above infinity
  void (*to_bytes)(const ScaledRow& row, float factor, uint8_t* y);  // rint(a' * factor) + 128, |a' * factor| < 128
  void (*sum)(const SumRow& row);
  void (*norm_gradient)(const NormGradientRow& row);
  void (*drop)(const DroppedRow& row);
  // Activations by their number in GemmFinish (gemm_kernel.h), from x before the activation: y = f(x), dx = dy f'(x).
  void (*activate)(int activation, const float* x, float* y, size_t count);                             // y may be x
  void (*activate_gradient)(int activation, const float* x, const float* dy, float* dx, size_t count);  // dx may be dy
  float (*largest_number)(const float* x, size_t count);  // at least 1; a NaN may be left out
  void (*scale)(float* x, float factor, size_t count);
  void (*exponentials)(const float* x, float shift, float* y, size_t count);  // y = e^(x - shift), x <= shift
};

const RowKernel& row_operations_avx2_kernel();
const RowKernel& row_operations_avx512_kernel();

}  // namespace deberta
