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

// e^(-x^2 / 2) / sqrt(2 pi)
double normal_density(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

double gelu_slope(double x) {
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * normal_density(x);
}

// The slope of x sigmoid(z): s + x z' s (1 - s), z' the slope of z. 1 - s is sigmoid(-z), without cancellation.
double gated_slope(double x, double z, double slope_of_z) {
  const double s = sigmoid(z);
  return s + x * slope_of_z * s * sigmoid(-z);
}

double gelu_tanh_slope(double x) {
  const double two_root = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const double cube = 0.044715 * x * x;
  return gated_slope(x, two_root * x * (1 + cube), two_root * (1 + 3 * cube));
}

// With w = tanh(softplus(x)): w + x (1 - w^2) sigmoid(x).
double mish_slope(double x) {
  if (x > 20) return 1;
  const double e = std::exp(x);
  const double n = e * (e + 2);
  const double w = n / (n + 2);
  const double rest = 2 / (n + 2);  // 1 - w
  return w + x * rest * (1 + w) * sigmoid(x);
}

double laplace_slope(double x) {
  const double deviation = 0.282095;
  return normal_density((x - 0.707107) / deviation) / deviation;
}

double slope(KernelActivation activation, double x) {
  switch (activation) {
    case KernelActivation::kLinear:
      return 1;
    case KernelActivation::kGelu:
      return gelu_slope(x);
    case KernelActivation::kGeluTanh:
      return gelu_tanh_slope(x);
    case KernelActivation::kGelu10:
      return gelu(x) > 10 ? 0 : gelu_slope(x);
    case KernelActivation::kQuickGelu:
      return gated_slope(x, 1.702 * x, 1.702);
    case KernelActivation::kRelu:
      return x > 0 ? 1 : 0;
    case KernelActivation::kRelu2:
      return x > 0 ? 2 * x : 0;
    case KernelActivation::kRelu6:
      return x > 0 && x < 6 ? 1 : 0;
    case KernelActivation::kLeakyRelu:
      return x > 0 ? 1 : 0.01;
    case KernelActivation::kSwish:
      return gated_slope(x, x, 1);
    case KernelActivation::kMish:
      return mish_slope(x);
    case KernelActivation::kTanh: {
      const double y = std::tanh(x);
      return (1 - y) * (1 + y);
    }
    case KernelActivation::kSigmoid:
      return sigmoid(x) * sigmoid(-x);
    case KernelActivation::kLaplace:
      return laplace_slope(x);
  }
  return 1;
}

}  // namespace

double activate(KernelActivation activation, double x) {
  return apply<double>(activation, x);
}

double activation_slope(KernelActivation activation, double x) {
  return slope(activation, x);
}

void activate_row(KernelActivation activation, float* x, size_t count) {
  if (activation == KernelActivation::kLinear) return;
  for (size_t i = 0; i < count; ++i) x[i] = apply<float>(activation, x[i]);
}

bool is_vector_activation(KernelActivation activation) {
  return activation == KernelActivation::kLinear || vector_activation(activation) != 0;
}

int vector_activation(KernelActivation activation) {
  switch (activation) {
    case KernelActivation::kGelu:
      return 1;
    case KernelActivation::kRelu:
      return 2;
    case KernelActivation::kGeluTanh:
      return 3;
    case KernelActivation::kQuickGelu:
      return 4;
    case KernelActivation::kSwish:
      return 5;
    case KernelActivation::kLinear:
    case KernelActivation::kGelu10:
    case KernelActivation::kRelu2:
    case KernelActivation::kRelu6:
    case KernelActivation::kLeakyRelu:
    case KernelActivation::kMish:
    case KernelActivation::kTanh:
    case KernelActivation::kSigmoid:
    case KernelActivation::kLaplace:
      break;
  }
  return 0;
}

}  // namespace deberta
