// How the blocks of a layer, attention and feed-forward, begin and end.
//   as published     y = LN( dropout(block(x)) + x )
//   with norm_first  y = dropout(block(LN(x))) + x
// N rows  D hidden
#pragma once
#include <ATen/TensorOperators.h>

#include "train/model/pass.h"
#include "train/ops/dropout.h"

namespace deberta::train {

// What the block reads.
inline at::Tensor enter_block(const Pass& pass, const Norm& norm, const at::Tensor& x_ND) {
  return pass.form.config.norm_first ? layer_norm(pass.compute, x_ND, pass.norm(norm)) : x_ND;
}

inline at::Tensor leave_block(const Pass& pass, const Norm& norm, const at::Tensor& block_ND, const at::Tensor& x_ND,
                              const Dropout& drop, const Rows& rows) {
  if (pass.form.config.norm_first) return dropout(pass.compute, block_ND, drop, rows) + x_ND;
  return add_norm(pass.compute, block_ND, x_ND, pass.norm(norm), drop, rows);
}

}  // namespace deberta::train
