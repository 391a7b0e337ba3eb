// Choosing rows keeps each one's sequence, position and mask, which relative distances and dropout need.
#include "train/model/pass.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "train/ops/linear.h"

namespace deberta::train {

at::Tensor apply(const Pass& pass, const Linear& linear, const at::Tensor& x) {
  return train::linear(pass.compute, x, linear.weight_OI, linear.bias_O);
}

SharedRows choose_rows(const Rows& tokens, std::span<const int32_t> rows) {
  auto chosen = std::make_shared<Rows>();
  chosen->starts.push_back(0);
  size_t n = 0;
  for (size_t b = 0; b < tokens.sequences(); ++b) {
    for (; n < rows.size() && static_cast<size_t>(rows[n]) < tokens.end(b); ++n) {
      const auto row = static_cast<size_t>(rows[n]);
      chosen->positions_N.push_back(tokens.position(b, row));
      if (!tokens.mask_N.empty()) chosen->mask_N.push_back(tokens.mask_N[row]);
    }
    chosen->starts.push_back(static_cast<int32_t>(n));
  }
  return chosen;
}

at::Tensor to_index(std::span<const int32_t> values, const at::Tensor& like) {
  at::Tensor index = at::empty({static_cast<int64_t>(values.size())}, at::kInt);
  std::copy(values.begin(), values.end(), index.data_ptr<int32_t>());
  return index.to(like.device());
}

at::Tensor take_rows(const at::Tensor& x_TD, std::span<const int32_t> rows) {
  return x_TD.index_select(0, to_index(rows, x_TD));
}

}  // namespace deberta::train
