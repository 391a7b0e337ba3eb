// y = f(x W1^T + b1) W2^T + b2, as one operation: of what lies between, only the numbers before f are kept, and in bf16
// half of their bytes. With gradients for x and all weights.
// N rows  D width  F inner width
#pragma once
#include <ATen/core/Tensor.h>

#include "kernels/activation.h"
#include "train/ops/compute.h"

namespace deberta::train {

struct FeedForwardWeights {
  at::Tensor up_FD, up_bias_F, down_DF, down_bias_D;
};

at::Tensor feed_forward(const Compute& compute, const at::Tensor& x_ND, const FeedForwardWeights& weights,
                        KernelActivation activation);

}  // namespace deberta::train
