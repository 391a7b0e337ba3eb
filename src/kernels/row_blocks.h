// What the operations on rows share: the kernel of a level, and the split of rows among threads. Not for files compiled
// with wider flags.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "base/parallel.h"
#include "kernels/dispatch.h"
#include "kernels/row_kernel.h"

namespace deberta {

// Null for the reference.
const RowKernel* row_kernel(KernelLevel level);

// function(row) for all rows. A task is as many rows as make waking a thread worth it.
template <class Function>
void for_each_row(const Parallel& parallel, size_t rows, size_t columns, Function&& function) {
  constexpr size_t kTaskElements = 16384;
  const size_t block = std::max<size_t>(1, kTaskElements / std::max<size_t>(1, columns));
  parallel_for(parallel, (rows + block - 1) / block, [&](size_t task, size_t) {
    for (size_t row = task * block; row < std::min(rows, (task + 1) * block); ++row) function(row);
  });
}

// The element of y farthest from what was expected; a NaN is farther than any.
struct WorstElement {
  double difference = 0;
  size_t row = 0;
  size_t column = 0;
};
WorstElement find_worst(std::span<const float> expected, size_t columns, const float* y, size_t y_stride);

}  // namespace deberta
