// The W rows around each row side by side, then one product for each group. C = D / G columns of a group
#include "train/ops/convolution.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "train/ops/layer_norm.h"
#include "train/ops/linear.h"

namespace deberta::train {
namespace {

// Which row stands at t + w - (W-1)/2; T, a row of zeros, beyond the sequence's borders.
at::Tensor neighbours(const Rows& rows, int64_t width) {
  const auto total = static_cast<int64_t>(rows.count());
  at::Tensor rows_TW = at::empty({total, width}, at::kLong);
  int64_t* row = rows_TW.data_ptr<int64_t>();
  for (size_t b = 0; b < rows.sequences(); ++b) {
    const auto begin = static_cast<int64_t>(rows.begin(b)), end = static_cast<int64_t>(rows.end(b));
    for (int64_t t = begin; t < end; ++t) {
      for (int64_t w = 0; w < width; ++w) {
        const int64_t from = t + w - (width - 1) / 2;
        *row++ = from >= begin && from < end ? from : total;
      }
    }
  }
  return rows_TW.flatten();
}

}  // namespace

at::Tensor convolution(const Compute& compute, const at::Tensor& x_TD, const ConvolutionWeights& weights,
                       const Rows& rows) {
  const int64_t total = x_TD.size(0), columns = x_TD.size(1), width = weights.weight_DCW.size(2);
  const int64_t part = columns / weights.groups;
  const at::Tensor padded = at::cat({mask_rows(compute, x_TD, rows), at::zeros({1, columns}, x_TD.options())}, 0);
  const at::Tensor around_TW = padded.index_select(0, neighbours(rows, width).to(x_TD.device()));
  const at::Tensor around_GTCW = around_TW.view({total, width, weights.groups, part}).permute({2, 0, 3, 1});
  std::vector<at::Tensor> groups;
  for (int64_t g = 0; g < weights.groups; ++g) {
    const at::Tensor x_TI = around_GTCW.select(0, g).reshape({total, part * width});
    const at::Tensor weight_OI = weights.weight_DCW.narrow(0, g * part, part).reshape({part, part * width});
    groups.push_back(linear(compute, x_TI, weight_OI, weights.bias_D.narrow(0, g * part, part)));
  }
  return mask_rows(compute, at::cat(groups, 1), rows);
}

}  // namespace deberta::train
