// The activations of model.md#configuration on numbers. Not a kernel: epilogues and references call it.
#pragma once
#include <cstddef>

namespace deberta {

enum class KernelActivation {
  kLinear,
  kGelu,       // the erf form, x / 2 * (1 + erf(x / sqrt 2)), never the tanh form
  kGeluTanh,   // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
  kGelu10,     // the erf form, within -10 and 10
  kQuickGelu,  // x sigmoid(1.702 x)
  kRelu,
  kRelu2,      // relu(x)^2
  kRelu6,      // relu(x), at most 6
  kLeakyRelu,  // 0.01 x below 0
  kSwish,      // x sigmoid(x)
  kMish,       // x tanh(log(1 + e^x))
  kTanh,
  kSigmoid,
  kLaplace,  // (1 + erf((x - 0.707107) / (0.282095 sqrt 2))) / 2
};

// One value.
double activate(KernelActivation activation, double x);

// The derivative. At corners: activation_rows.h.
double activation_slope(KernelActivation activation, double x);

// x[i] = activation(x[i]) in fp32 arithmetic; a value depends on x[i] alone.
void activate_row(KernelActivation activation, float* x, size_t count);

// Whether vectors compute it, and its number in GemmFinish and RowKernel (0: linear, or not in vectors).
bool is_vector_activation(KernelActivation activation);
int vector_activation(KernelActivation activation);

}  // namespace deberta
