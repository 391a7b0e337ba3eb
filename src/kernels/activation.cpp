// Activations through the C library's erf, tanh and exp.
#include "kernels/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace deberta {
namespace {

template <class Number>
Number gelu(Number x) {
  return Number(0.5) * x * (Number(1) + std::erf(x / std::numbers::sqrt2_v<Number>));
}

template <class Number>
Number sigmoid(Number x) {
  return Number(1) / (Number(1) + std::exp(-x));
}

template <class Function>
void apply(float* x, size_t count, Function function) {
  for (size_t i = 0; i < count; ++i) x[i] = function(x[i]);
}

}  // namespace

double activate(KernelActivation activation, double x) {
  switch (activation) {
    case KernelActivation::kLinear:
      return x;
    case KernelActivation::kGelu:
      return gelu(x);
    case KernelActivation::kRelu:
      return x < 0 ? 0 : x;
    case KernelActivation::kSwish:
      return x * sigmoid(x);
    case KernelActivation::kTanh:
      return std::tanh(x);
    case KernelActivation::kSigmoid:
      return sigmoid(x);
  }
  return x;
}

void activate_row(KernelActivation activation, float* x, size_t count) {
  switch (activation) {
    case KernelActivation::kLinear:
      return;
    case KernelActivation::kGelu:
      return apply(x, count, gelu<float>);
    case KernelActivation::kRelu:
      return apply(x, count, [](float v) { return v < 0 ? 0 : v; });
    case KernelActivation::kSwish:
      return apply(x, count, [](float v) { return v * sigmoid(v); });
    case KernelActivation::kTanh:
      return apply(x, count, [](float v) { return std::tanh(v); });
    case KernelActivation::kSigmoid:
      return apply(x, count, sigmoid<float>);
  }
}

}  // namespace deberta
