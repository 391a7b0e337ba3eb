// Linear layers, their operands, and norms on rows.
#include "engine/pass.h"

#include "kernels/layer_norm.h"

namespace deberta {
namespace {

QuantizedRows quantized(const OperandRows& operand) {
  return {reinterpret_cast<uint8_t*>(operand.data), spread_columns(operand.columns, Precision::kInt8), operand.scales_T,
          operand.side_TO};
}

void quantize_rows(const Pass& pass, const Linear& reader, QuantizeParams p, size_t rows, const OperandRows& operand) {
  p.rows = rows;
  p.columns = operand.columns;
  p.quantizer = reader.weights.quantizer;
  p.out = quantized(operand);
  p.parallel = pass.parallel;
  quantize(pass.kernels, p);
}

}  // namespace

OperandRows OperandRows::from(size_t row, const Linear& reader) const {
  if (data == nullptr) return *this;
  const PackedWeights& weights = reader.weights;
  const size_t stride = spread_columns(columns, weights.precision);
  OperandRows rows = *this;
  rows.data += row * stride * element_bytes(weights.precision);
  if (weights.precision != Precision::kInt8) return rows;
  rows.scales_T += row;
  rows.side_TO += row * weights.quantizer.outliers;
  return rows;
}

void apply_linear(const Pass& pass, const Linear& linear, const LinearInput& input, size_t rows,
                  KernelActivation activation, const LinearOutput& output) {
  if (pass.ranges != nullptr) pass.ranges->record(linear, input.x_TK, rows);
  GemmParams p{};
  p.a_MK = linear.weights.precision == Precision::kFp32 ? input.x_TK : input.operand_TK;
  if (linear.weights.precision != Precision::kFp32) {
    p.a_stride = spread_columns(linear.weights.depth, linear.weights.precision);
  }
  p.a_scales_M = input.scales_T;
  p.a_outliers_MO = input.side_TO;
  p.rows = rows;
  p.weights = linear.weights;
  p.bias_N = linear.bias;
  p.activation = activation;
  p.residual_MN = output.residual;
  p.c_MN = output.y;
  p.c_bf16_MN = output.y_bf16;
  if (output.y_bf16 != nullptr && output.head_size == 0) {
    p.c_stride = spread_columns(linear.weights.outputs, Precision::kBf16);
  }
  p.head_size = output.head_size;
  p.head_stride = output.head_stride;
  p.parallel = pass.parallel;
  gemm(pass.kernels, p);
}

void make_operand(const Pass& pass, const Linear& reader, const float* x_TK, size_t rows, const OperandRows& operand) {
  if (reader.weights.precision == Precision::kInt8) {
    QuantizeParams p{};
    p.x_TK = x_TK;
    quantize_rows(pass, reader, p, rows, operand);
  } else if (reader.weights.precision == Precision::kBf16) {
    round_to_bf16(pass.kernels, x_TK, rows, operand.columns, reinterpret_cast<Bf16*>(operand.data),
                  spread_columns(operand.columns, Precision::kBf16), pass.parallel);
  }
}

LinearInput input_from_bf16(const Pass& pass, const Linear& reader, const Bf16* x_TK, size_t rows,
                            const OperandRows& operand) {
  LinearInput input(nullptr, operand);
  if (reader.weights.precision == Precision::kBf16) {
    input.operand_TK = x_TK;
    return input;
  }
  QuantizeParams p{};
  p.x_bf16_TK = x_TK;
  p.x_stride = spread_columns(operand.columns, Precision::kBf16);
  quantize_rows(pass, reader, p, rows, operand);
  return input;
}

void apply_norm(const Pass& pass, const Norm& norm, const NormStep& step) {
  LayerNormParams p{};
  p.x_TD = p.y_TD = step.x;
  p.residual_TD = step.residual;
  p.mask_T = step.mask_T;
  p.gamma_D = norm.gamma;
  p.beta_D = norm.beta;
  p.rows = step.rows;
  p.columns = step.columns;
  p.epsilon = pass.config.layer_norm_eps;
  if (step.reader != nullptr && step.reader->weights.precision == Precision::kBf16) {
    p.y_bf16_TD = reinterpret_cast<Bf16*>(step.operand.data);
    p.bf16_stride = spread_columns(step.columns, Precision::kBf16);
  } else if (step.reader != nullptr && step.reader->weights.precision == Precision::kInt8) {
    p.quantizer = step.reader->weights.quantizer;
    p.quantized = quantized(step.operand);
  }
  p.parallel = pass.parallel;
  layer_norm(pass.kernels, p);
}

}  // namespace deberta
