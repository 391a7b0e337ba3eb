// y[n] = (x[n] - mean) / sqrt(variance + eps) * gamma + beta: biased variance, eps inside the root
// (kernels/layer_norm.h).
// N rows  D columns
#pragma once
#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"
#include "train/ops/compute.h"
#include "train/ops/rows.h"

namespace deberta::train {

struct NormWeights {
  at::Tensor gamma_D, beta_D;
  double epsilon = 1e-7;
};

at::Tensor layer_norm(const Compute& compute, const at::Tensor& x_ND, const NormWeights& norm);

// layer_norm( dropout(x) + residual ): how every block of a layer ends. Dropout by the positions of `rows`.
at::Tensor add_norm(const Compute& compute, const at::Tensor& x_ND, const at::Tensor& residual_ND,
                    const NormWeights& norm, const Dropout& dropout, const Rows& rows);

// Rows with mask 0 become zeros, and pass no gradient on.
at::Tensor mask_rows(const Compute& compute, const at::Tensor& x_ND, const Rows& rows);

}  // namespace deberta::train
