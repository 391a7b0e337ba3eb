// What one forward pass reads, and the steps on rows that all its parts are made of: linear layers and norms. Operands
// and number formats are chosen here, so that the callers read like equations:
//   weights   states              heads, intermediate rows   what a linear layer multiplies
//   fp32      fp32                fp32                       those
//   bf16      fp32, an operand    bf16                       the operand, or intermediate rows as they are
//   int8      fp32, an operand    bf16                       the operand; intermediate rows become one before
// T rows  H heads  K head size; of a linear layer: K columns  O outlier columns
#pragma once
#include "base/parallel.h"
#include "deberta/model.h"
#include "engine/calibration.h"
#include "engine/weights.h"
#include "kernels/operand.h"
#include "kernels/rel_lut.h"

namespace deberta {

// Everything a pass reads. `lut` reaches the longest sequence; null when the model has no relative term.
struct Pass {
  const ModelConfig& config;
  const ModelWeights& weights;
  const KernelSet& kernels;
  Parallel parallel;
  const EngineHead& head;
  const RelLut* lut = nullptr;
  const Batch& batch;
  const ForwardOptions& options;
  EmptyRows empty_rows = EmptyRows::kZero;
  RangeCollector* ranges = nullptr;  // receives the inputs of linear layers; null: none

  // Bytes per element of heads and of intermediate rows.
  size_t attention_element_bytes() const { return element_bytes(attention_precision(weights.precision)); }

  // From one intermediate row to the next.
  size_t intermediate_stride(size_t columns) const {
    const Precision precision = attention_precision(weights.precision);
    return precision == Precision::kFp32 ? columns : spread_columns(columns, precision);
  }
  size_t intermediate_bytes(size_t columns) const { return intermediate_stride(columns) * attention_element_bytes(); }
};

// Copies what operations have written to the host.
void copy_to_host(const Pass& pass, const float* values, size_t count, std::vector<float>& host);

// The logits come from the enhanced mask decoder, not from h_N.
inline bool runs_mask_decoder(const Pass& pass) {
  return pass.weights.has_mask_decoder && asks_mask_decoder(pass.options);
}

// Rows in the number format of their consumer, the linear layer that reads them next: bf16, or u8 with a scale for each
// row and the outlier columns alongside; spread_columns apart. No data for fp32: the consumer reads the rows
// themselves.
struct OperandRows {
  std::byte* data = nullptr;
  float* scales_T = nullptr;
  Bf16* side_TO = nullptr;
  OperandRows from(size_t row, const Linear& consumer) const;
};

// Hidden or query states: the residual is fp32, linear layers read the operand.
struct States {
  float* x_TD = nullptr;
  OperandRows operand = {};
  size_t rows = 0;
};

// Rows that one linear layer reads and nothing else: what attention writes, and the feed-forward part between its two
// products. fp32 one after the other, or bf16 intermediate_stride apart.
struct IntermediateRows {
  std::byte* data = nullptr;
  OperandRows quantized = {};  // int8: filled on the way into the linear layer
};

// y = activation(x W^T + b), fp32 in and out: embeddings and heads. Weights of another precision read the operand.
struct LinearStep {
  const float* x = nullptr;
  OperandRows operand = {};
  size_t rows = 0;
  KernelActivation activation = KernelActivation::kLinear;
  float* y = nullptr;
};
void apply_linear(const Pass& pass, const Linear& linear, const LinearStep& step);

// x W^T + b as heads that attention reads: [..., H, rows, K].
void project_heads(const Pass& pass, const Linear& linear, const States& x, std::byte* heads_HTK);

// act(x W^T + b), act the configuration's hidden_act.
void project_inner(const Pass& pass, const Linear& linear, const States& x, const IntermediateRows& inner);

// y += rows W^T + b. Leaves y's operand as it is.
void add_projection(const Pass& pass, const Linear& linear, const IntermediateRows& rows, const States& y);

// x = LN(x + residual), in place. Rows with mask 0 become zeros.
struct NormStep {
  const float* residual_TD = nullptr;  // null: none
  const uint8_t* mask_T = nullptr;     // null: all ones
  const Linear* consumer = nullptr;    // x's operand is filled for it; null: none
};
void apply_norm(const Pass& pass, const Norm& norm, const States& x, const NormStep& step);

// Fills the operand of states that no norm has just written.
void make_operand(const Pass& pass, const Linear& consumer, const States& x);

}  // namespace deberta
