// What one forward pass reads, and the two steps that every part of it takes.
#pragma once
#include "base/parallel.h"
#include "deberta/model.h"
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
  EmptyRows empty_rows = EmptyRows::kZero;
};

// The logits come from the enhanced mask decoder, not from h_N.
inline bool runs_mask_decoder(const Pass& pass) {
  return pass.weights.has_mask_decoder && pass.options.wants_logits;
}

// y = activation(x W^T + b) on `rows` rows that lie one after the other.
void apply_linear(const Pass& pass, const Linear& linear, const float* x, size_t rows, KernelActivation activation,
                  float* y);

// x = LN(x + residual), in place; residual null: none; rows with mask 0 (null: none) become zeros.
struct NormStep {
  float* x = nullptr;
  size_t rows = 0;
  size_t columns = 0;
  const float* residual = nullptr;
  const uint8_t* mask_T = nullptr;
};
void apply_norm(const Pass& pass, const Norm& norm, const NormStep& step);

}  // namespace deberta
