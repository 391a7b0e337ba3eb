// Activations and their gradients: the ones of vector_activation() in vectors, the others in double through the C
// library.
#include "kernels/activation_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kPiece = 4096;  // numbers of a task

// function(begin, count) for pieces of `count` numbers.
template <class Function>
void for_each_piece(const Parallel& parallel, size_t count, Function&& function) {
  parallel_for(parallel, (count + kPiece - 1) / kPiece,
               [&](size_t task, size_t) { function(task * kPiece, std::min(kPiece, count - task * kPiece)); });
}

const RowKernel* kernel_of(KernelLevel level, KernelActivation activation) {
  return is_vector_activation(activation) ? row_kernel(level) : nullptr;
}

double exact(const ActivationParams& p, size_t i) {
  return activate(p.activation, double{p.x[i]});
}
double exact(const ActivationGradientParams& p, size_t i) {
  return double{p.dy[i]} * activation_slope(p.activation, double{p.x[i]});
}

void run(KernelLevel level, const ActivationParams& p) {
  count_call(Operation::kActivation, level);
  const RowKernel* kernel = kernel_of(level, p.activation);
  for_each_piece(p.parallel, p.count, [&](size_t begin, size_t count) {
    if (kernel != nullptr) return kernel->activate(vector_activation(p.activation), p.x + begin, p.y + begin, count);
    for (size_t i = begin; i < begin + count; ++i) p.y[i] = static_cast<float>(exact(p, i));
  });
}

void run(KernelLevel level, const ActivationGradientParams& p) {
  count_call(Operation::kActivation, level);
  const RowKernel* kernel = kernel_of(level, p.activation);
  for_each_piece(p.parallel, p.count, [&](size_t begin, size_t count) {
    if (kernel != nullptr) {
      return kernel->activate_gradient(vector_activation(p.activation), p.x + begin, p.dy + begin, p.dx + begin, count);
    }
    for (size_t i = begin; i < begin + count; ++i) p.dx[i] = static_cast<float>(exact(p, i));
  });
}

// The exact results go first: the output may be an input.
template <class Params>
void run_checked(const KernelSet& kernels, const Params& p, const float* out, const char* name) {
  std::vector<float> expected(p.count);
  for (size_t i = 0; i < p.count; ++i) expected[i] = static_cast<float>(exact(p, i));
  run(kernels.level_of(Operation::kActivation), p);
  const WorstElement worst = find_worst(expected, p.count, out, p.count);
  kernels.check->record(Operation::kActivation, worst.difference,
                        fmt::format("{}, element {} of {}", name, worst.column, p.count));
}

}  // namespace

void activation(const KernelSet& kernels, const ActivationParams& p) {
  if (p.count == 0) return;
  require(Operation::kActivation, p.x != nullptr && p.y != nullptr, "a null pointer");
  if (kernels.check == nullptr) return run(kernels.level_of(Operation::kActivation), p);
  run_checked(kernels, p, p.y, "forward");
}

void activation_gradient(const KernelSet& kernels, const ActivationGradientParams& p) {
  if (p.count == 0) return;
  require(Operation::kActivation, p.x != nullptr && p.dy != nullptr && p.dx != nullptr, "a null pointer");
  if (kernels.check == nullptr) return run(kernels.level_of(Operation::kActivation), p);
  run_checked(kernels, p, p.dx, "gradient");
}

}  // namespace deberta
