// Activations and their gradients: the ones of vector_activation() in vectors, the others in double through the C
// library.
#include "kernels/activation_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/operand.h"
#include "kernels/row_blocks.h"
#include "kernels/row_kernel.h"

namespace deberta {
namespace {

constexpr size_t kPiece = 4096;  // numbers of a task

// function(begin, count) for pieces of `count` numbers.
template <class Function>
void for_each_piece(const Parallel& parallel, size_t count, Function&& function) {
  parallel_for(parallel, (count + kPiece - 1) / kPiece,
               [&](size_t task, size_t) { function(task * kPiece, std::min(kPiece, count - task * kPiece)); });
}

template <class Params>
float input(const Params& p, size_t i) {
  return p.x != nullptr ? p.x[i] : from_bf16(p.x_bf16[i]);
}
double exact(const ActivationParams& p, size_t i) {
  return activate(p.activation, double{input(p, i)});
}
double exact(const ActivationGradientParams& p, size_t i) {
  return double{p.dy[i]} * activation_slope(p.activation, double{input(p, i)});
}

// Inputs begin .. begin + count in fp32.
template <class Params>
const float* read_piece(const RowKernel* kernel, const Params& p, size_t begin, size_t count, float* room) {
  if (p.x != nullptr) return p.x + begin;
  widen_row(kernel, p.x_bf16 + begin, room, count);
  return room;
}

void run(KernelLevel level, const ActivationParams& p) {
  count_call(Operation::kActivation, level);
  const RowKernel* rows = kernel_of(level, &ImplementationRow::rows);
  const RowKernel* kernel = is_vector_activation(p.activation) ? rows : nullptr;
  for_each_piece(p.parallel, p.count, [&](size_t begin, size_t count) {
    float x_room[kPiece], y_room[kPiece];
    float* y = p.y != nullptr ? p.y + begin : y_room;
    if (kernel != nullptr) {
      kernel->activate(vector_activation(p.activation), read_piece(kernel, p, begin, count, x_room), y, count);
    } else {
      for (size_t i = 0; i < count; ++i) y[i] = static_cast<float>(exact(p, begin + i));
    }
    if (p.y_bf16 != nullptr) narrow_row(rows, y, p.y_bf16 + begin, count);
  });
}

void run(KernelLevel level, const ActivationGradientParams& p) {
  count_call(Operation::kActivation, level);
  const RowKernel* rows = kernel_of(level, &ImplementationRow::rows);
  const RowKernel* kernel = is_vector_activation(p.activation) ? rows : nullptr;
  for_each_piece(p.parallel, p.count, [&](size_t begin, size_t count) {
    if (kernel != nullptr) {
      float room[kPiece];
      return kernel->activate_gradient(vector_activation(p.activation), read_piece(kernel, p, begin, count, room),
                                       p.dy + begin, p.dx + begin, count);
    }
    for (size_t i = begin; i < begin + count; ++i) p.dx[i] = static_cast<float>(exact(p, i));
  });
}

// The exact results go first: the output may be an input.
template <class Params, class Output>
void run_checked(const KernelSet& kernels, const Params& p, const Output& output, const char* name) {
  std::vector<float> expected(p.count), got(p.count);
  for (size_t i = 0; i < p.count; ++i) expected[i] = static_cast<float>(exact(p, i));
  run(kernels.level_of(Operation::kActivation), p);
  for (size_t i = 0; i < p.count; ++i) got[i] = output(i);
  const WorstElement worst = find_worst(expected, p.count, got.data(), p.count);
  kernels.check->record(Operation::kActivation, worst.difference,
                        fmt::format("{}, element {} of {}", name, worst.column, p.count));
}

template <class Params>
bool has_one_input(const Params& p) {
  return (p.x != nullptr) != (p.x_bf16 != nullptr);
}

}  // namespace

void activation(const KernelSet& kernels, const ActivationParams& p) {
  if (p.count == 0) return;
  require(Operation::kActivation, has_one_input(p) && (p.y != nullptr) != (p.y_bf16 != nullptr), "a null pointer");
  if (kernels.check == nullptr) return run(kernels.level_of(Operation::kActivation), p);
  run_checked(
      kernels, p, [&](size_t i) { return p.y != nullptr ? p.y[i] : from_bf16(p.y_bf16[i]); }, "forward");
}

void activation_gradient(const KernelSet& kernels, const ActivationGradientParams& p) {
  if (p.count == 0) return;
  require(Operation::kActivation, has_one_input(p) && p.dy != nullptr && p.dx != nullptr, "a null pointer");
  if (kernels.check == nullptr) return run(kernels.level_of(Operation::kActivation), p);
  run_checked(
      kernels, p, [&](size_t i) { return p.dx[i]; }, "gradient");
}

}  // namespace deberta
