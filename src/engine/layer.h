// One layer (layer.cpp has the equation): for every token, or (mask decoder, last layer) for some query rows against
// the keys and values of all tokens.
#pragma once
#include "engine/pass.h"
#include "engine/workspace.h"
#include "kernels/attention.h"

namespace deberta {

// Which layer a pass is in, and what is wanted from it besides its output.
struct LayerStep {
  const LayerWeights& layer;
  const Linear* consumer = nullptr;   // the linear layer that reads the output next; null: none
  AttentionScoreOutputs scores = {};  // none
};

// The rows that a layer computes.
struct QueryRows {
  States states;                         // query states y; become the output. The operand: as `query` reads it
  const int32_t* starts = nullptr;       // as AttentionParams::query_starts
  const int32_t* positions_N = nullptr;  // as AttentionParams::query_positions
  const uint8_t* mask_N = nullptr;       // null: none
};

// Keys and values of the hidden states, for any number of calls of query_layer.
void project_keys_values(const Pass& pass, const LayerWeights& layer, const Workspace& space);
void query_layer(const Pass& pass, const LayerStep& step, const QueryRows& queries, const Workspace& space);

// Both, for every token: the hidden states become the layer's output.
void encoder_layer(const Pass& pass, const LayerStep& step, const Workspace& space);

}  // namespace deberta
