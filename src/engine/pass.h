// What one forward pass reads, and the steps that every part of it takes.
// T rows  K columns  O outlier columns
#pragma once
#include "base/parallel.h"
#include "deberta/model.h"
#include "engine/calibration.h"
#include "engine/weights.h"
#include "kernels/operand.h"
#include "kernels/quantize.h"
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
  RangeCollector* ranges = nullptr;  // hears of the inputs of linear layers; null: nobody asks

  // Of what attention reads and writes, and of the rows between two products of the feed-forward part.
  size_t attention_element_bytes() const { return element_bytes(attention_precision(weights.precision)); }

  // Elements between such rows, but for the heads that attention reads.
  size_t attention_stride(size_t columns) const {
    const Precision precision = attention_precision(weights.precision);
    return precision == Precision::kFp32 ? columns : spread_columns(columns, precision);
  }

  // For work on a block of rows that is one task of many.
  Pass on_one_thread() const {
    Pass pass = *this;
    pass.parallel = serial();
    return pass;
  }
};

// The logits come from the enhanced mask decoder, not from h_N.
inline bool runs_mask_decoder(const Pass& pass) {
  return pass.weights.has_mask_decoder && pass.options.wants_logits;
}

// A buffer of rows in the number format of the linear layer that reads them: bf16, or u8 with a scale for each row and
// the outlier columns beside; spread_columns apart. fp32 layers read the fp32 rows themselves.
struct OperandRows {
  std::byte* data = nullptr;
  size_t columns = 0;
  float* scales_T = nullptr;
  Bf16* side_TO = nullptr;
  OperandRows from(size_t row, const Linear& reader) const;
};

// What a linear layer reads: `x` with fp32 weights, else the operand.
struct LinearInput {
  const float* x_TK = nullptr;
  const void* operand_TK = nullptr;
  const float* scales_T = nullptr;
  const Bf16* side_TO = nullptr;

  LinearInput(const float* x, const OperandRows& operand)
      : x_TK(x), operand_TK(operand.data), scales_T(operand.scales_T), side_TO(operand.side_TO) {}
  explicit LinearInput(const float* x) : x_TK(x) {}
};

// Where a linear layer writes, fp32 or bf16: row by row (bf16 spread), or by heads.
struct LinearOutput {
  float* y = nullptr;
  Bf16* y_bf16 = nullptr;
  const float* residual = nullptr;  // of row by row
  size_t head_size = 0;
  size_t head_stride = 0;
};

// y = activation(x W^T + b) + residual on `rows` rows.
void apply_linear(const Pass& pass, const Linear& linear, const LinearInput& input, size_t rows,
                  KernelActivation activation, const LinearOutput& output);

// Fills `operand` for `reader` from rows that lie one after the other. Nothing to do with fp32 weights.
void make_operand(const Pass& pass, const Linear& reader, const float* x_TK, size_t rows, const OperandRows& operand);

// The input of `reader` from spread bf16 rows: the rows themselves, or quantised into `operand`. Not for fp32 weights.
LinearInput input_from_bf16(const Pass& pass, const Linear& reader, const Bf16* x_TK, size_t rows,
                            const OperandRows& operand);

// x = LN(x + residual), in place; residual null: none; rows with mask 0 (null: none) become zeros. `reader`: the linear
// layer that reads the result next; its operand is filled on the way. Null: none.
struct NormStep {
  float* x = nullptr;
  size_t rows = 0;
  size_t columns = 0;
  const float* residual = nullptr;
  const uint8_t* mask_T = nullptr;
  const Linear* reader = nullptr;
  OperandRows operand = {};
};
void apply_norm(const Pass& pass, const Norm& norm, const NormStep& step);

}  // namespace deberta
