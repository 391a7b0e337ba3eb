// Dropout of rows: y[n,d] = x[n,d] * scale where its element is kept, else 0 (kernels/dropout.h;
// model-training.md#dropout). An element is identified by its sequence, its position there and its column, so that
// packing, chosen rows and devices never change what is dropped.
// N rows  D columns
#pragma once
#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"
#include "kernels/dropout_rows.h"
#include "train/ops/compute.h"
#include "train/ops/rows.h"

namespace deberta::train {

// x itself where dropout.p is 0.
at::Tensor dropout(const Compute& compute, const at::Tensor& x_ND, const Dropout& dropout, const Rows& rows);

// Rows that stand in no sequence, such as those of the relative table: row n at position n of sequence 0, whatever the
// offset.
at::Tensor dropout(const Compute& compute, const at::Tensor& x_ND, const Dropout& dropout);

// As the kernels want it: `rows` outlives the result. Rows without starts: a table.
RowDropout to_kernel(const Dropout& dropout, const Rows& rows);

// What dropout() multiplies with: 0 or the scale, on the device and of the type of `like`.
at::Tensor dropout_factors(const Dropout& dropout, const Rows& rows, int64_t columns, const at::Tensor& like);

// The same for attention probabilities of one sequence and all heads: queries `begin` to `end` of `queries`, S keys.
at::Tensor attention_dropout_factors(const Dropout& dropout, const Rows& queries, size_t sequence, int64_t heads,
                                     int64_t keys, const at::Tensor& like);

}  // namespace deberta::train
