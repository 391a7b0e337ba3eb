// Sums and softmax over groups of rows that lie together: the tokens of a sequence, the choices of a question, the
// pieces of a mention. Group g is rows starts[g] to starts[g + 1] - 1. In double, since the rows are few; a group's
// result does not depend on the other groups.
// N rows  G groups  D columns, each by itself
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace deberta::train {

// [G, D]; zeros of a group without rows.
at::Tensor sum_groups(const at::Tensor& x_ND, std::span<const int32_t> starts);

// [N, D]: x - log(sum of exp(x) in its group).
at::Tensor log_softmax_groups(const at::Tensor& x_ND, std::span<const int32_t> starts);

}  // namespace deberta::train
