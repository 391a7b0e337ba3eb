// Statistics of a tensor's values, for `inspect` and `check`.
#pragma once
#include <cstdint>

#include "checkpoint/tensor.h"

namespace deberta::cli {

// Over the finite values; all 0 when there are none.
struct Statistics {
  double min = 0;
  double max = 0;
  double mean = 0;
  double deviation = 0;  // population
  uint64_t not_finite = 0;
};
Statistics statistics_of(const TensorView& tensor);

}  // namespace deberta::cli
