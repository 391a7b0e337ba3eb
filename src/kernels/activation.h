// The activations of algorithm.md 2 on numbers. Not a kernel: epilogues and references call it.
#pragma once
#include <cstddef>

namespace deberta {

enum class KernelActivation { kLinear, kGelu, kRelu, kSwish, kTanh, kSigmoid };

// One value. kGelu is the erf form, x / 2 * (1 + erf(x / sqrt 2)), never the tanh form.
double activate(KernelActivation activation, double x);

// x[i] = activation(x[i]) in fp32 arithmetic; a value depends on x[i] alone.
void activate_row(KernelActivation activation, float* x, size_t count);

}  // namespace deberta
