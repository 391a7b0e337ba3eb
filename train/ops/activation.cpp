#include "train/ops/activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/silu.h>

#include <numbers>

namespace deberta::train {

at::Tensor activate(const Compute&, const at::Tensor& x, KernelActivation activation) {
  switch (activation) {
    case KernelActivation::kLinear:
      return x;
    case KernelActivation::kGelu:
      return at::gelu(x);
    case KernelActivation::kGeluTanh:
      return at::gelu(x, "tanh");
    case KernelActivation::kGelu10:
      return at::gelu(x).clamp(-10, 10);
    case KernelActivation::kQuickGelu:
      return x * (1.702 * x).sigmoid();
    case KernelActivation::kRelu:
      return x.relu();
    case KernelActivation::kRelu2:
      return x.relu().square();
    case KernelActivation::kRelu6:
      return x.clamp(0, 6);
    case KernelActivation::kLeakyRelu:
      return at::leaky_relu(x, 0.01);
    case KernelActivation::kSwish:
      return at::silu(x);
    case KernelActivation::kMish:
      return at::mish(x);
    case KernelActivation::kTanh:
      return x.tanh();
    case KernelActivation::kSigmoid:
      return x.sigmoid();
    case KernelActivation::kLaplace:
      return 0.5 * (1 + ((x - 0.707107) / (0.282095 * std::numbers::sqrt2)).erf());
  }
  return x;
}

}  // namespace deberta::train
