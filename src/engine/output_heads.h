// From the last hidden states, or the mask decoder's, to pooled rows and logits.
#pragma once
#include "engine/pass.h"
#include "engine/workspace.h"

namespace deberta {

// Rows that the head reads, and columns of its inner layer: the sizes of the workspace's head_rows_ND, head_inner_ND.
size_t head_rows(const Pass& pass);
size_t head_inner_columns(const Pass& pass);

void run_head(const Pass& pass, const Workspace& space, ForwardResult& result);

}  // namespace deberta
