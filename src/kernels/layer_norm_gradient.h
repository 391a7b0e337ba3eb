// The gradients of y = (z - mean) inverse gamma + beta (layer_norm.h), from dY, z, and the mean and inverse that
// layer_norm wrote. With n = (z - mean) inverse and g = dy gamma, over the columns of a row:
//   dz     = inverse (g - mean(g) - n mean(g n))
//   dgamma = sum_t dy n
//   dbeta  = sum_t dy
// dz is the gradient of the residual; that of x is dropout(dz), the same dropout as in the forward pass. Rows with mask
// 0 get zeros and add nothing. dgamma and dbeta are sums over blocks of 64 rows, added in double in ascending order: no
// bit depends on the number of threads. All rows lie one after the other.
// T rows  D columns
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"
#include "kernels/dropout_rows.h"

namespace deberta {

struct LayerNormGradientParams {
  const float* dy_TD = nullptr;
  const float* z_TD = nullptr;
  const float* mean_T = nullptr;
  const float* inverse_T = nullptr;
  const uint8_t* mask_T = nullptr;
  const float* gamma_D = nullptr;
  float* dz_TD = nullptr;     // may be dy
  float* dx_TD = nullptr;     // null: not wanted
  RowDropout dropout;         // applied to dx
  float* dgamma_D = nullptr;  // null: not wanted
  float* dbeta_D = nullptr;
  bool adds_weights = false;  // dgamma and dbeta are added to the existing values
  size_t rows = 0;
  size_t columns = 0;
  void* scratch = nullptr;  // layer_norm_gradient_scratch_bytes, 64-byte aligned, any contents
  Parallel parallel = serial();
};

size_t layer_norm_gradient_scratch_bytes(size_t rows, size_t columns);

// No allocation unless `kernels` checks. Throws kInternal for null pointers and what check_dropout refuses.
void layer_norm_gradient(const KernelSet& kernels, const LayerNormGradientParams& params);

}  // namespace deberta
