// Cross-entropy: argument checks, the choice of implementation, one row.
#include "kernels/cross_entropy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"
#include "kernels/softmax_rows.h"

namespace deberta {
namespace {

size_t stride_of(const CrossEntropyParams& p) {
  return p.stride > 0 ? p.stride : p.classes;
}

void check_arguments(const CrossEntropyParams& p) {
  require(Operation::kSoftmax, p.logits_RV != nullptr && p.labels_R != nullptr && p.loss_R != nullptr,
          "a null pointer in cross_entropy");
  require(Operation::kSoftmax, stride_of(p) >= p.classes, "rows overlap in cross_entropy");
  const bool has_all = std::all_of(p.labels_R, p.labels_R + p.rows, [&](int32_t label) {
    return label == p.ignored_label || (label >= 0 && static_cast<size_t>(label) < p.classes);
  });
  require(Operation::kSoftmax, has_all, "a label outside the classes in cross_entropy");
}

void ignore_row(const CrossEntropyParams& p, size_t row) {
  p.loss_R[row] = 0;
  if (p.is_correct_R != nullptr) p.is_correct_R[row] = 0;
  if (p.gradient_RV != nullptr) std::fill_n(p.gradient_RV + row * stride_of(p), p.classes, 0.0f);
}

// The gradient may be the logits: all that is needed of them is read before it is written.
void loss_row(const RowKernel& kernel, const CrossEntropyParams& p, size_t row) {
  const float* x_V = p.logits_RV + row * stride_of(p);
  const auto label = static_cast<size_t>(p.labels_R[row]);
  const float largest = kernel.largest_number(x_V, p.classes), x_label = x_V[label];
  const bool is_first = x_label == largest && std::find(x_V, x_V + label, largest) == x_V + label;
  float* gradient_V = p.gradient_RV != nullptr ? p.gradient_RV + row * stride_of(p) : nullptr;
  alignas(64) float piece[kSoftmaxPiece];
  double sum = 0;
  for_each_piece(
      kernel, x_V, p.classes, largest, [&](size_t first) { return gradient_V != nullptr ? gradient_V + first : piece; },
      [&](size_t, size_t, double sum_here) {
        sum += sum_here;
        return true;
      });
  p.loss_R[row] = std::log(sum) + (double{largest} - double{x_label});
  if (p.is_correct_R != nullptr) p.is_correct_R[row] = is_first && !std::isnan(sum) ? 1 : 0;
  if (gradient_V == nullptr) return;
  kernel.scale(gradient_V, static_cast<float>(double{p.scale} / sum), p.classes);
  gradient_V[label] -= p.scale;
}

void run(KernelLevel level, const CrossEntropyParams& p) {
  const RowKernel* kernel = kernel_of(level, &ImplementationRow::rows);
  count_call(Operation::kSoftmax, level);
  for_each_row(p.parallel, p.rows, p.classes, [&](size_t row) {
    if (p.labels_R[row] == p.ignored_label) return ignore_row(p, row);
    if (kernel == nullptr) return reference_cross_entropy(p, row);
    loss_row(*kernel, p, row);
  });
}

// Compares the losses. The reference goes first: the gradient may be the logits.
void run_checked(KernelLevel level, const CrossEntropyParams& p, KernelCheck& check) {
  std::vector<double> expected(p.rows);
  CrossEntropyParams reference = p;
  reference.loss_R = expected.data();
  reference.is_correct_R = nullptr;
  reference.gradient_RV = nullptr;
  run(KernelLevel::kReference, reference);
  run(level, p);
  const WorstElement worst = find_worst(p.rows, 1, [&](size_t row, size_t) { return p.loss_R[row] - expected[row]; });
  check.record(Operation::kSoftmax, worst.difference, fmt::format("[R {}, V {}] row {}", p.rows, p.classes, worst.row));
}

}  // namespace

void cross_entropy(const KernelSet& kernels, const CrossEntropyParams& params) {
  if (params.rows == 0) return;
  check_arguments(params);
  const ProfileTimer timer({.operation = Operation::kSoftmax, .precision = Precision::kFp32, .outputs = params.classes},
                           {.rows = params.rows, .workers = params.parallel.workers});
  const KernelLevel level = kernels.level_of(Operation::kSoftmax);
  if (kernels.check != nullptr) {
    run_checked(level, params, *kernels.check);
  } else {
    run(level, params);
  }
}

}  // namespace deberta
