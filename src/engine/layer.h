// One encoder layer (He et al. 2021, section 3.1):
//   a = LN( attention(queries y, keys and values x) Wo + y );  out = LN( act(a W1) W2 + a )
// Queries are the hidden states themselves, or (mask decoder, last layer) some rows with states of their own.
#pragma once
#include "engine/pass.h"
#include "engine/workspace.h"
#include "kernels/attention.h"

namespace deberta {

// The rows that a layer answers for.
struct QueryRows {
  float* x_ND = nullptr;     // query states and residual; becomes the output
  OperandRows operand = {};  // the same for the linear layers; filled for the query projection
  size_t rows = 0;
  const int32_t* starts = nullptr;       // as AttentionParams::query_starts
  const int32_t* positions_N = nullptr;  // as AttentionParams::query_positions
  const uint8_t* mask_N = nullptr;       // null: none
};

// What all layers share; an empty workspace gives what attention_scratch_bytes asks for.
AttentionParams base_attention(const Pass& pass, const Workspace& space);

// hidden_TD becomes the layer's output, and the operand of `next`'s projections when there is a next layer.
void encoder_layer(const Pass& pass, const LayerWeights& layer, const LayerWeights* next, const Workspace& space,
                   const AttentionScoreOutputs& scores);

// A layer for some rows only: keys and values of hidden_TD, then queries of their own against them, any number of
// times. `reader`: the linear layer that reads the result next; null: none.
void project_keys_values(const Pass& pass, const LayerWeights& layer, const Workspace& space);
void query_layer(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, const Linear* reader,
                 const Workspace& space);

}  // namespace deberta
