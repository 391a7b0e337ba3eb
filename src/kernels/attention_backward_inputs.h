// Inputs of attention's gradient as fp32, for calls in bf16: those that the reference reads, and the tables of all
// implementations that read them in fp32. Not here: what a vector kernel widens, block by block.
#pragma once
#include "kernels/attention_backward.h"

namespace deberta {

// Whether the tables of the forward call were bf16. Those of a gradient are rounded then, so that its scores are those
// of the forward call up to the order of sums.
bool has_rounded_tables(const KernelSet& kernels, const AttentionBackwardParams& params);

// `params` with kr and qr replaced by copies that are rounded to bf16; memory: 64-byte aligned.
size_t rounded_tables_bytes(const AttentionBackwardParams& params);
AttentionBackwardParams with_rounded_tables(const AttentionBackwardParams& params, void* memory);

// `params` in fp32: q, k and v widened.
size_t widened_inputs_bytes(const AttentionBackwardParams& params);
AttentionBackwardParams with_widened_inputs(const AttentionBackwardParams& params, void* memory);

}  // namespace deberta
