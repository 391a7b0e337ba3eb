// x[n] = table[id[n]], with a gradient for the table: for each of its rows the sum over the n that read it.
// N rows  V rows of the table  E columns
#pragma once
#include <ATen/core/Tensor.h>

#include "train/ops/compute.h"

namespace deberta::train {

constexpr int64_t kNoPadding = -1;

// ids_N: int32, each in the table. Row `padding_id` of the table gets no gradient. From the kernels the gradient is a
// sparse tensor, which is added in place to a dense one.
at::Tensor embedding(const Compute& compute, const at::Tensor& table_VE, const at::Tensor& ids_N,
                     int64_t padding_id = kNoPadding);

}  // namespace deberta::train
