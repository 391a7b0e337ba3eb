// y[t] = (z - mean(z)) / sqrt(variance(z) + eps) * gamma + beta,  z = x[t] + residual[t]; rows with mask 0 become
// zeros. fp32 in and out, biased variance, eps inside the root, two passes (mean, then variance). A row depends on
// itself alone. T rows  D columns
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"

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
  Parallel parallel = serial();
};

// No allocation. Throws kInternal for null pointers.
void layer_norm(const KernelSet& kernels, const LayerNormParams& params);

}  // namespace deberta
