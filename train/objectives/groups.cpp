// Segment sums by index_add, with each group's maximum taken off before the exponential.
#include "train/objectives/groups.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

namespace deberta::train {
namespace {

// The group of each row.
at::Tensor groups_of(std::span<const int32_t> starts, const at::Tensor& like) {
  at::Tensor groups_N = at::empty({starts.back()}, at::kLong);
  for (size_t g = 0; g + 1 < starts.size(); ++g) {
    std::fill(groups_N.data_ptr<int64_t>() + starts[g], groups_N.data_ptr<int64_t>() + starts[g + 1],
              static_cast<int64_t>(g));
  }
  return groups_N.to(like.device());
}

at::Tensor add_groups(const at::Tensor& x_ND, const at::Tensor& groups_N, size_t groups) {
  return at::zeros({static_cast<int64_t>(groups), x_ND.size(1)}, x_ND.options().requires_grad(false))
      .index_add(0, groups_N, x_ND);
}

// The largest of each group, without gradient: what keeps exp() finite.
at::Tensor largest_of(const at::Tensor& x_ND, std::span<const int32_t> starts) {
  const at::Tensor values_ND = x_ND.detach().cpu().contiguous();
  const auto columns = static_cast<size_t>(x_ND.size(1));
  at::Tensor largest_GD = at::full({static_cast<int64_t>(starts.size()) - 1, x_ND.size(1)},
                                   -std::numeric_limits<double>::infinity(), at::kDouble);
  const double* value = values_ND.const_data_ptr<double>();
  for (size_t g = 0; g + 1 < starts.size(); ++g) {
    double* largest = largest_GD.data_ptr<double>() + g * columns;
    for (int32_t row = starts[g]; row < starts[g + 1]; ++row) {
      for (size_t d = 0; d < columns; ++d) largest[d] = std::max(largest[d], *value++);
    }
  }
  return largest_GD.to(x_ND.device());
}

}  // namespace

at::Tensor sum_groups(const at::Tensor& x_ND, std::span<const int32_t> starts) {
  return add_groups(x_ND.to(at::kDouble), groups_of(starts, x_ND), starts.size() - 1);
}

at::Tensor log_softmax_groups(const at::Tensor& x_ND, std::span<const int32_t> starts) {
  const at::Tensor groups_N = groups_of(starts, x_ND), wide_ND = x_ND.to(at::kDouble);
  const at::Tensor shifted_ND = wide_ND - largest_of(wide_ND, starts).index_select(0, groups_N);
  const at::Tensor sums_GD = add_groups(shifted_ND.exp(), groups_N, starts.size() - 1);
  return shifted_ND - sums_GD.log().index_select(0, groups_N);
}

}  // namespace deberta::train
