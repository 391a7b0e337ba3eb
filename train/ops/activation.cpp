// The kernel's forward and slope inside an autograd function, or the same from ATen's operators.
#include "train/ops/activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/silu.h>

#include <numbers>

#include "kernels/activation_rows.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct ActivationCall {
  const Compute* compute = nullptr;
  KernelActivation activation = KernelActivation::kLinear;
};

class KernelActivate : public torch::autograd::Function<KernelActivate> {
 public:
  static at::Tensor forward(AutogradContext* context, const Compute* compute, const at::Tensor& input,
                            KernelActivation activation) {
    const at::Tensor x = input.contiguous();
    context->save_for_backward({x});
    hold(context, ActivationCall{compute, activation});
    at::Tensor y = new_floats(x.sizes());
    deberta::activation(compute->kernels, {.activation = activation,
                                           .x = x.const_data_ptr<float>(),
                                           .y = y.mutable_data_ptr<float>(),
                                           .count = as_size(x.numel()),
                                           .parallel = compute->parallel});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const ActivationCall& call = held<ActivationCall>(context);
    const at::Tensor x = context->get_saved_variables()[0], dy = outputs[0].contiguous();
    at::Tensor dx = new_floats(x.sizes());
    activation_gradient(call.compute->kernels, {.activation = call.activation,
                                                .x = x.const_data_ptr<float>(),
                                                .dy = dy.const_data_ptr<float>(),
                                                .dx = dx.mutable_data_ptr<float>(),
                                                .count = as_size(x.numel()),
                                                .parallel = call.compute->parallel});
    return {at::Tensor(), dx, at::Tensor()};
  }
};

at::Tensor compose_activation(const at::Tensor& x, KernelActivation activation) {
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

}  // namespace

at::Tensor activate(const Compute& compute, const at::Tensor& x, KernelActivation activation) {
  if (activation == KernelActivation::kLinear) return x;
  return runs_kernels(compute, x) ? KernelActivate::apply(&compute, x, activation) : compose_activation(x, activation);
}

}  // namespace deberta::train
