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

// A tanh that comes near -1 would cancel against the 1: (1 + tanh(u)) / 2 is sigmoid(2 u).
template <class Number>
Number gelu_tanh(Number x) {
  const Number root = std::numbers::sqrt2_v<Number> * std::numbers::inv_sqrtpi_v<Number>;  // sqrt(2 / pi)
  return x * sigmoid(Number(2) * root * (x + Number(0.044715) * x * x * x));
}

// tanh(log(1 + e^x)) = n / (n + 2), n = e^x (e^x + 2); above 20 it is 1 to any precision here.
template <class Number>
Number mish(Number x) {
  if (x > 20) return x;
  const Number e = std::exp(x);
  const Number n = e * (e + 2);
  return x * (n / (n + 2));
}

template <class Number>
Number laplace(Number x) {
  const Number u = (x - Number(0.707107)) / (Number(0.282095) * std::numbers::sqrt2_v<Number>);
  return Number(0.5) * (Number(1) + std::erf(u));
}

template <class Number>
Number apply(KernelActivation activation, Number x) {
  switch (activation) {
    case KernelActivation::kLinear:
      return x;
    case KernelActivation::kGelu:
      return gelu(x);
    case KernelActivation::kGeluTanh:
      return gelu_tanh(x);
    case KernelActivation::kGelu10:
      return x != x ? x : std::clamp(gelu(x), Number(-10), Number(10));
    case KernelActivation::kQuickGelu:
      return x * sigmoid(Number(1.702) * x);
    case KernelActivation::kRelu:
      return x < 0 ? 0 : x;
    case KernelActivation::kRelu2:
      return x < 0 ? 0 : x * x;
    case KernelActivation::kRelu6:
      return x < 0 ? 0 : x > 6 ? 6 : x;
    case KernelActivation::kLeakyRelu:
      return x < 0 ? Number(0.01) * x : x;
    case KernelActivation::kSwish:
      return x * sigmoid(x);
    case KernelActivation::kMish:
      return mish(x);
    case KernelActivation::kTanh:
      return std::tanh(x);
    case KernelActivation::kSigmoid:
      return sigmoid(x);
    case KernelActivation::kLaplace:
      return laplace(x);
  }
  return x;
}

}  // namespace

double activate(KernelActivation activation, double x) {
  return apply<double>(activation, x);
}

void activate_row(KernelActivation activation, float* x, size_t count) {
  if (activation == KernelActivation::kLinear) return;
  for (size_t i = 0; i < count; ++i) x[i] = apply<float>(activation, x[i]);
}

}  // namespace deberta
