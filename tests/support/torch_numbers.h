// Tensors for the tests of the rooms that know torch: reproducible numbers, and gradients against finite differences.
#pragma once
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "support/random.h"

namespace deberta::test {

// As in training: torch's own threads would only wait for one another on tensors this small.
inline const bool kOneThread = [] {
  at::set_num_threads(1);
  return true;
}();

// Normals of a seed; doubles are exactly the floats.
inline at::Tensor normal_tensor(uint64_t seed, at::IntArrayRef shape, at::ScalarType type = at::kDouble,
                                double deviation = 1) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  const std::vector<float> values = normals(seed, static_cast<size_t>(tensor.numel()), deviation);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor.to(type);
}

inline double worst_difference(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined() || a.sizes() != b.sizes()) return INFINITY;
  if (a.numel() == 0) return 0;
  const double worst = (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
  return std::isnan(worst) ? INFINITY : worst;
}

// The gradients of a scalar with respect to the inputs, which then hold none.
// The gradient that backward() left, in full: that of a table may be sparse. Undefined: none.
inline at::Tensor gradient_of(const at::Tensor& x) {
  return x.grad().defined() && x.grad().is_sparse() ? x.grad().to_dense() : x.grad();
}

inline std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& inputs,
                                            const std::function<at::Tensor()>& function) {
  function().backward();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& input : inputs) {
    const at::Tensor gradient = gradient_of(input);
    gradients.push_back(gradient.defined() ? gradient.clone() : at::zeros_like(input));
    input.mutable_grad() = at::Tensor();
  }
  return gradients;
}

// The largest |gradient - central difference| over `each` elements of every input, evenly spaced, relative to the
// largest gradient of that input or 1. Doubles; the error of the differences themselves is about 1e-9.
inline double worst_gradient_error(const std::vector<at::Tensor>& inputs, const std::function<at::Tensor()>& function,
                                   int64_t each = 12) {
  constexpr double kStep = 1e-5;
  const std::vector<at::Tensor> gradients = gradients_of(inputs, function);
  const at::NoGradGuard no_gradients;
  double worst = 0;
  for (size_t n = 0; n < inputs.size(); ++n) {
    double* values = inputs[n].data_ptr<double>();
    const at::Tensor gradient = gradients[n].contiguous();
    const double largest = std::max(1.0, gradient.abs().max().item<double>());
    const int64_t stride = std::max<int64_t>(1, inputs[n].numel() / each);
    for (int64_t i = 0; i < inputs[n].numel(); i += stride) {
      const double whole = values[i];
      values[i] = whole + kStep;
      const double above = function().item<double>();
      values[i] = whole - kStep;
      const double below = function().item<double>();
      values[i] = whole;
      const double difference = (above - below) / (2 * kStep);
      worst = std::max(worst, std::abs(gradient.data_ptr<double>()[i] - difference) / largest);
    }
  }
  return worst;
}

}  // namespace deberta::test
