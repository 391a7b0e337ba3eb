#include "train/ops/layer_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "train/ops/dropout.h"

namespace deberta::train {

at::Tensor layer_norm(const Compute&, const at::Tensor& x_ND, const NormWeights& norm) {
  return std::get<0>(at::native_layer_norm(x_ND, {x_ND.size(1)}, norm.gamma_D, norm.beta_D, norm.epsilon));
}

at::Tensor add_norm(const Compute& compute, const at::Tensor& x_ND, const at::Tensor& residual_ND,
                    const NormWeights& norm, const Dropout& dropout, const Rows& rows) {
  return layer_norm(compute, train::dropout(compute, x_ND, dropout, rows) + residual_ND, norm);
}

at::Tensor mask_rows(const Compute&, const at::Tensor& x_ND, const Rows& rows) {
  if (rows.mask_N.empty()) return x_ND;
  at::Tensor is_masked_N = at::zeros({x_ND.size(0), 1}, at::kBool);
  std::transform(rows.mask_N.begin(), rows.mask_N.end(), is_masked_N.data_ptr<bool>(),
                 [](uint8_t mask) { return mask == 0; });
  return x_ND.masked_fill(is_masked_N.to(x_ND.device()), 0);
}

}  // namespace deberta::train
