// From the last hidden states, or the mask decoder's, to pooled rows and logits: one loading function and one computing
// function of each head.
#pragma once
#include <vector>

#include "engine/pass.h"
#include "engine/workspace.h"

namespace deberta {

EngineHead engine_head(Head head);

// The sizes of the workspace's head_rows_ND and head_inner_ND: the rows that the head multiplies, their columns, and
// those of its inner layer.
size_t head_rows(const Pass& pass);
size_t head_columns(const Pass& pass);
size_t head_inner_columns(const Pass& pass);

// The states of each group's rows, side by side, for heads whose groups have the same number of rows.
const float* find_group_rows(const Pass& pass, const Workspace& space);

// Where an operation writes a result: there, or into the buffer that finish_result() then copies.
float* begin_result(float* buffer, size_t count, std::vector<float>& result);
void finish_result(const Pass& pass, const float* buffer, std::vector<float>& result);

// The last step of a head's computing function: the head's output layer on `input`, all but its y. Heads are fp32, but
// for the word table of a language model.
void apply_output_layer(const Pass& pass, LinearStep input, const Workspace& space, ForwardResult& result);

}  // namespace deberta
