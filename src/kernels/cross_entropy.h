// The loss of rows of logits and its gradient:
//   loss[r]       = log sum_v e^x[r,v] - x[r, label]
//   gradient[r,v] = scale (e^x[r,v] / sum_u e^x[r,u] - [v = label])
// The row's maximum is taken off before the exponentials; sums run in double, in one order. A row depends on itself
// alone. A NaN in the row makes its loss NaN.
// R rows  V classes
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

struct CrossEntropyParams {
  const float* logits_RV = nullptr;
  size_t stride = 0;  // elements between rows, also of the gradient; 0: V
  size_t rows = 0;
  size_t classes = 0;
  const int32_t* labels_R = nullptr;
  int32_t ignored_label = -100;  // such a row has loss 0 and gradient 0
  float scale = 1;               // 1 / the number of rows that count, times the loss's weight
  double* loss_R = nullptr;
  uint8_t* is_correct_R = nullptr;  // null: not wanted. 1: the label is the first of the largest logits
  float* gradient_RV = nullptr;     // null: not wanted; may be the logits
  Parallel parallel = serial();
};

// Allocates only when `kernels` checks. Throws kInternal for null pointers and a label outside the classes.
void cross_entropy(const KernelSet& kernels, const CrossEntropyParams& params);

}  // namespace deberta
