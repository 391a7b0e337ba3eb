// A layer for some rows only: which they are, and their states out of the hidden states and back. The mask decoder's
// rows, and those of the last layer that the head reads: what nothing reads is not computed.
#pragma once
#include "engine/layer.h"

namespace deberta {

// The head reads only some rows of the last layer: first tokens, or the requested rows.
bool reads_some_rows(const Pass& pass);

// Most rows that choose_queries can find when only some are read.
size_t chosen_rows_bound(const Pass& pass);

// The first tokens of a sequence head, else the requested rows, else all; states and operand in the head's buffers, not
// filled.
QueryRows choose_queries(const Pass& pass, const Workspace& space);

// The last layer, for the rows that the head reads: only they become its output in hidden_TD.
void run_layer_for_rows(const Pass& pass, const LayerWeights& layer, const Workspace& space);

}  // namespace deberta
