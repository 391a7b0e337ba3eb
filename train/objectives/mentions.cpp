// A softmax over the pieces of each mention (groups.h), and their weighted sum.
#include "train/objectives/mentions.h"

#include <ATen/TensorOperators.h>

#include <cmath>

#include "train/objectives/groups.h"

namespace deberta::train {

at::Tensor mention_states(const Pass& pass, const TaskBatch& batch, const at::Tensor& hidden_TD) {
  std::vector<int32_t> first_rows_P;
  for (size_t m = 0; m < batch.mention_sequences_M.size(); ++m) {
    const int32_t first = pass.tokens->starts[static_cast<size_t>(batch.mention_sequences_M[m])];
    first_rows_P.insert(first_rows_P.end(), static_cast<size_t>(batch.mentions[m + 1] - batch.mentions[m]), first);
  }
  const at::Tensor h_PD = take_rows(hidden_TD, batch.mention_rows).to(at::kDouble);
  const at::Tensor first_PD = take_rows(hidden_TD, first_rows_P).to(at::kDouble);
  const at::Tensor scores_P1 = (h_PD * first_PD).sum(1, true) / std::sqrt(static_cast<double>(h_PD.size(1)));
  const at::Tensor weights_P1 = log_softmax_groups(scores_P1, batch.mentions).exp();
  return sum_groups(h_PD * weights_P1, batch.mentions).to(hidden_TD.scalar_type());
}

SharedRows mention_rows(const TaskBatch& batch) {
  auto rows = std::make_shared<Rows>();
  rows->starts.assign(batch.input.sequences() + 1, 0);
  for (const int32_t sequence : batch.mention_sequences_M) ++rows->starts[static_cast<size_t>(sequence) + 1];
  for (size_t b = 0; b < batch.input.sequences(); ++b) rows->starts[b + 1] += rows->starts[b];
  return rows;
}

}  // namespace deberta::train
