// Mentions of entities (ReCoRD, model-heads.md#mentions), the hidden state of one from those of its pieces:
//   h_m = sum over pieces p of softmax_p( h_p . h_CLS / sqrt(D) ) h_p
// M mentions  P pieces  T packed tokens  D hidden
#pragma once
#include "train/model/pass.h"
#include "train/objectives/task_batch.h"

namespace deberta::train {

// [M, D]; zeros of a mention without pieces.
at::Tensor mention_states(const Pass& pass, const TaskBatch& batch, const at::Tensor& hidden_TD);

// Mentions as rows: mention n of a sequence at position n.
SharedRows mention_rows(const TaskBatch& batch);

}  // namespace deberta::train
