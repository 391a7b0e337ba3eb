// What the kernels of attention, forward and backward, read of a call: its params, cut into sequences and heads.
#pragma once
#include "kernels/attention.h"
#include "kernels/attention_kernel.h"

namespace deberta {

// Tokens of sequence b.
inline size_t length_of(const int32_t* starts, size_t b) {
  return static_cast<size_t>(starts[b + 1] - starts[b]);
}

// Positions of queries and keys are below it.
int64_t end_of_attention_positions(const AttentionParams& params);

AttentionExtent attention_extent(const AttentionParams& params);

// The relative tables, if any, are those packed for fp32 or bf16 kernels.
AttentionTask attention_task(const AttentionParams& params, size_t sequence, size_t head);

}  // namespace deberta
