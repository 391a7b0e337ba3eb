// The norm of a row, with the residual before it:
//   z    = dropout(x[t]) + residual[t]
//   y[t] = (z - mean(z)) / sqrt(variance(z) + eps) * gamma + beta
// Rows with mask 0 become zeros. fp32 in and out, biased variance, eps inside the root, two passes (mean, then
// variance). A row depends on itself alone. While a row is in the cache, y may also be written rounded to bf16, and as
// bytes for the int8 GEMM (quantize.h, of y in fp32).
// T rows  D columns
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"
#include "kernels/dropout_rows.h"
#include "kernels/quantize.h"

namespace deberta {

struct LayerNormParams {
  const float* x_TD = nullptr;
  const float* residual_TD = nullptr;  // same stride as x
  const uint8_t* mask_T = nullptr;
  const float* gamma_D = nullptr;
  const float* beta_D = nullptr;
  float* y_TD = nullptr;  // may be x or the residual
  size_t rows = 0;
  size_t columns = 0;
  size_t x_stride = 0;  // elements between rows; 0: columns
  size_t y_stride = 0;
  double epsilon = 1e-7;
  Bf16* y_bf16_TD = nullptr;  // null: not wanted
  size_t bf16_stride = 0;     // 0: columns
  Quantizer quantizer;
  QuantizedRows quantized;  // values_TK null: not wanted
  // Training: dropout of x needs z; layer_norm_gradient reads all three. Masked rows leave theirs as they are.
  RowDropout dropout;
  float* z_TD = nullptr;  // null: not wanted; same stride as x, may be x
  float* mean_T = nullptr;
  float* inverse_T = nullptr;  // 1 / sqrt(variance + eps); both or neither
  Parallel parallel = serial();
};

// No allocation unless `kernels` checks. Throws kInternal for null pointers, and what quantize and check_dropout throw.
void layer_norm(const KernelSet& kernels, const LayerNormParams& params);

}  // namespace deberta
