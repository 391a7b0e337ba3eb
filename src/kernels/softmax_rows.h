// What the operations on rows of logits share: the exponentials of a row in pieces, and their sum. Not for files
// compiled with wider flags.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/row_kernel.h"

namespace deberta {

inline constexpr size_t kSoftmaxPiece = 1024;  // the bits of sums depend on it

// In eight chains and one tree.
inline double sum_of_piece(const float* x, size_t count) {
  double chains[8] = {};
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (size_t c = 0; c < 8; ++c) chains[c] += double{x[i + c]};
  }
  for (size_t c = 0; i < count; ++i, ++c) chains[c] += double{x[i]};
  return ((chains[0] + chains[1]) + (chains[2] + chains[3])) + ((chains[4] + chains[5]) + (chains[6] + chains[7]));
}

// function(first, count, sum) for each piece, ascending, with e^(x - shift) of the piece in out(first); stops when it
// says false.
template <class Out, class Function>
void for_each_piece(const RowKernel& kernel, const float* x_V, size_t classes, float shift, Out&& out,
                    Function&& function) {
  for (size_t first = 0; first < classes; first += kSoftmaxPiece) {
    const size_t count = std::min(kSoftmaxPiece, classes - first);
    float* y = out(first);
    kernel.exponentials(x_V + first, shift, y, count);
    if (!function(first, count, sum_of_piece(y, count))) return;
  }
}

}  // namespace deberta
