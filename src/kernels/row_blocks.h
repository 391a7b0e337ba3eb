// What the operations on rows share: the split of rows among threads, and rounding. Not for files compiled with wider
// flags.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "base/parallel.h"
#include "kernels/bf16.h"
#include "kernels/implementations.h"
#include "kernels/row_kernel.h"

namespace deberta {

// y = x rounded to bf16. `kernel` null: the reference.
void narrow_row(const RowKernel* kernel, const float* x, Bf16* y, size_t columns);

// y = x in fp32. `kernel` null: the reference.
void widen_row(const RowKernel* kernel, const Bf16* x, float* y, size_t columns);

// function(row) for all rows. A task has enough rows to be worth waking a thread.
template <class Function>
void for_each_row(const Parallel& parallel, size_t rows, size_t columns, Function&& function) {
  constexpr size_t kTaskElements = 16384;
  const size_t block = std::max<size_t>(1, kTaskElements / std::max<size_t>(1, columns));
  parallel_for(parallel, (rows + block - 1) / block, [&](size_t task, size_t) {
    for (size_t row = task * block; row < std::min(rows, (task + 1) * block); ++row) function(row);
  });
}

// The element farthest from what was expected; a NaN is farther than any.
struct WorstElement {
  double difference = 0;
  size_t row = 0;
  size_t column = 0;
};
template <class Difference>
WorstElement find_worst(size_t rows, size_t columns, Difference&& difference_at) {
  WorstElement worst;
  for (size_t i = 0; i < rows * columns; ++i) {
    const double difference = std::abs(difference_at(i / columns, i % columns));
    if (difference <= worst.difference) continue;  // a NaN is not less: it stays the worst
    worst = {difference, i / columns, i % columns};
    if (std::isnan(difference)) break;
  }
  return worst;
}
WorstElement find_worst(std::span<const float> expected, size_t columns, const float* y, size_t y_stride);

}  // namespace deberta
