// What an objective says of a batch. Losses are sums, so that a step of several batches divides once, by its whole
// count.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace deberta::train {

struct Loss {
  at::Tensor sum;       // a double, to call backward() on
  int64_t count = 0;    // labels that it is a sum over
  int64_t correct = 0;  // of them, where the largest logit is the label's; 0 where nothing can be right or wrong
};

}  // namespace deberta::train
