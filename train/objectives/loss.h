// The result of an objective for a batch. Losses are sums, so that a step of several batches divides once, by its whole
// count.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace deberta::train {

struct Loss {
  at::Tensor sum;                               // a double, to call backward() on
  int64_t count = 0;                            // labels that it is a sum over
  int64_t correct = 0;                          // labels with the largest logit; 0 where nothing can be right or wrong
  std::optional<double> weight = std::nullopt;  // total of these labels, where classes or rows have weights

  // What the sums of a step are divided by, all together: its mean.
  double divisor() const { return weight.value_or(static_cast<double>(count)); }
};

}  // namespace deberta::train
