// The enhanced mask decoder (He et al. 2021, section 3.2; model.md#mask-decoder): the last layer twice, on the rows to
// predict.
//   h  = h_{N-1}
//   z  = position[p] + h
//   q1 = layer_N(keys and values h, queries z)
//   q2 = layer_N(keys and values h, queries q1)
#pragma once
#include "engine/pass.h"
#include "engine/workspace.h"

namespace deberta {

// hidden_TD holds h_{N-1} and keeps it; q2 of the head's rows is left in head_rows_ND, wanted scores in the result.
void run_mask_decoder(const Pass& pass, const Workspace& space, ForwardResult& result);

}  // namespace deberta
