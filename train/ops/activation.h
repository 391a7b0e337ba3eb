// y = activation(x), element by element (kernels/activation.h has the equations).
#pragma once
#include <ATen/core/Tensor.h>

#include "kernels/activation.h"
#include "train/ops/compute.h"

namespace deberta::train {

at::Tensor activate(const Compute& compute, const at::Tensor& x, KernelActivation activation);

}  // namespace deberta::train
