// The convolution of version 2 over the rows of each sequence of a pack, without its activation
// (kernels/convolution.h): rows beyond the borders of a sequence and masked rows count as zeros; masked rows of the
// result are zeros.
// T rows  D columns in and out  G groups  W width, odd
#pragma once
#include <ATen/core/Tensor.h>

#include "train/ops/compute.h"
#include "train/ops/rows.h"

namespace deberta::train {

struct ConvolutionWeights {
  at::Tensor weight_DCW;  // [D, D / G, W]
  at::Tensor bias_D;
  int64_t groups = 1;
};

at::Tensor convolution(const Compute& compute, const at::Tensor& x_TD, const ConvolutionWeights& weights,
                       const Rows& rows);

}  // namespace deberta::train
