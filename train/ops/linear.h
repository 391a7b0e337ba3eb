// y = x W^T + b.
// N rows  I inputs  O outputs
#pragma once
#include <ATen/core/Tensor.h>

#include "train/ops/compute.h"

namespace deberta::train {

// bias_O undefined: none.
at::Tensor linear(const Compute& compute, const at::Tensor& x_NI, const at::Tensor& weight_OI,
                  const at::Tensor& bias_O);

}  // namespace deberta::train
