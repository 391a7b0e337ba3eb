// One forward pass over a pack. The model's weights and the caller's results stay outside; scratch comes from one
// arena.
#pragma once
#include "base/arena.h"
#include "base/parallel.h"
#include "engine/model.h"
#include "engine/weights.h"
#include "kernels/rel_lut.h"

namespace deberta {

// Everything a pass reads. `lut` reaches the longest sequence; null when the model has no relative term.
struct Pass {
  const ModelConfig& config;
  const ModelWeights& weights;
  const KernelSet& kernels;
  Parallel parallel;
  Head head;
  const RelLut* lut = nullptr;
  const Batch& batch;
  const ForwardOptions& options;
};

// `batch` and `options` must have passed their checks. The arena grows to what the pass needs. Throws kOutOfMemory,
// kUnsupported (a head that cannot be computed and logits are wanted).
void run_forward(const Pass& pass, Arena& arena, ForwardResult& result);

// The head's part, from h_N: fills pooled and logits. `rows_ND` and `inner_ND` have room for head_rows() rows.
size_t head_rows(const Pass& pass);
size_t head_inner_columns(const Pass& pass);
void run_head(const Pass& pass, const float* hidden_TD, float* rows_ND, float* inner_ND, ForwardResult& result);

// y = activation(x W^T + b) on `rows` rows that lie one after the other.
void apply_linear(const Pass& pass, const Linear& linear, const float* x, size_t rows, KernelActivation activation,
                  float* y);
// x = LN(x), in place; rows with mask 0 (null: none) become zeros.
void apply_norm(const Pass& pass, const Norm& norm, float* x, size_t rows, size_t columns,
                const uint8_t* mask_T = nullptr);

}  // namespace deberta
