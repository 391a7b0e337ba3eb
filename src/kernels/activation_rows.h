// Activations as operations of their own, for training: the gradient needs the numbers before the activation, so no
// epilogue may have applied it.
//   y  = f(x)
//   dx = dy f'(x)
// Computed in fp32; an element depends on itself alone. f' of relu, relu6 and relu2 at their corners is 0, of leaky
// relu 0.01, of gelu10 that of gelu (as torch has them).
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/activation.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"

namespace deberta {

struct ActivationParams {
  KernelActivation activation = KernelActivation::kLinear;
  const float* x = nullptr;
  const Bf16* x_bf16 = nullptr;  // instead of x
  float* y = nullptr;            // may be x
  Bf16* y_bf16 = nullptr;        // instead of y
  size_t count = 0;
  Parallel parallel = serial();
};

struct ActivationGradientParams {
  KernelActivation activation = KernelActivation::kLinear;
  const float* x = nullptr;      // before the activation
  const Bf16* x_bf16 = nullptr;  // instead of x
  const float* dy = nullptr;
  float* dx = nullptr;  // may be dy
  size_t count = 0;
  Parallel parallel = serial();
};

// Allocate only when `kernels` checks. Throw kInternal for null pointers.
void activation(const KernelSet& kernels, const ActivationParams& params);
void activation_gradient(const KernelSet& kernels, const ActivationGradientParams& params);

}  // namespace deberta
