// Sampling: the sums of pieces of a row tell in which of them the class lies; only that one is searched.
#include "kernels/sample_ids.h"

#include <cmath>

#include "base/philox.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"
#include "kernels/softmax_rows.h"

namespace deberta {
namespace {

size_t stride_of(const SampleIdsParams& p) {
  return p.stride > 0 ? p.stride : p.classes;
}

void check_arguments(const SampleIdsParams& p) {
  require(Operation::kSoftmax,
          p.logits_RV != nullptr && p.samples_R != nullptr && p.positions_R != nullptr && p.ids_R != nullptr,
          "a null pointer in sample_ids");
  require(Operation::kSoftmax, p.classes > 0 && stride_of(p) >= p.classes, "no classes or rows that overlap");
}

// The first of the piece at which `sum` exceeds the target; the rounding of sums may leave that to its last number.
size_t search(const float* y, size_t count, double sum, double target) {
  size_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += double{y[i]};
    if (sum > target) return i;
    if (y[i] > 0) last = i;
  }
  return last;
}

int32_t sample_row(const RowKernel& kernel, const SampleIdsParams& p, size_t row) {
  const float* x_V = p.logits_RV + row * stride_of(p);
  const float shift = kernel.largest_number(x_V, p.classes);
  alignas(64) float piece[kSoftmaxPiece];
  const auto out = [&](size_t) { return piece; };
  double total = 0;
  for_each_piece(kernel, x_V, p.classes, shift, out, [&](size_t, size_t, double sum) {
    total += sum;
    return true;
  });
  if (!std::isfinite(total)) return -1;
  const double target = sample_uniform(p.key, p.samples_R[row], p.positions_R[row]) * total;
  double before = 0;
  size_t id = p.classes - 1;
  for_each_piece(kernel, x_V, p.classes, shift, out, [&](size_t first, size_t count, double sum) {
    const bool is_here = before + sum > target;
    if (is_here) id = first + search(piece, count, before, target);
    before += sum;
    return !is_here;
  });
  return static_cast<int32_t>(id);
}

}  // namespace

double sample_uniform(uint64_t key, uint64_t sample, int32_t position) {
  const PhiloxCounter words =
      philox({static_cast<uint32_t>(position), 0, static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32)},
             {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  const uint64_t bits = uint64_t{words[0]} | uint64_t{words[1]} << 32;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Two implementations differ only where a sum lies within a rounding of the uniform number, so `check` does not
// compare.
void sample_ids(const KernelSet& kernels, const SampleIdsParams& p) {
  if (p.rows == 0) return;
  check_arguments(p);
  const KernelLevel level = kernels.level_of(Operation::kSoftmax);
  const RowKernel* kernel = kernel_of(level, &ImplementationRow::rows);
  count_call(Operation::kSoftmax, level);
  for_each_row(p.parallel, p.rows, p.classes, [&](size_t row) {
    p.ids_R[row] = kernel != nullptr ? sample_row(*kernel, p, row) : reference_sample_id(p, row);
  });
}

}  // namespace deberta
