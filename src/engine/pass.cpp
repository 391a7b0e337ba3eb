// Linear layers, their operands, and norms on rows.
#include "engine/pass.h"

#include "heads/kernel_names.h"
#include "kernels/layer_norm.h"
#include "kernels/quantize.h"

namespace deberta {
namespace {

QuantizedRows quantized(const OperandRows& operand, const Linear& consumer) {
  return {.values_TK = reinterpret_cast<uint8_t*>(operand.data),
          .stride = spread_columns(consumer.weights.depth, Precision::kInt8),
          .scales_T = operand.scales_T,
          .side_TO = operand.side_TO};
}

// How `consumer` has its input quantised; the caller fills in the input itself.
QuantizeParams quantize_params(const Pass& pass, const Linear& consumer, size_t rows, const OperandRows& operand) {
  QuantizeParams p{};
  p.rows = rows;
  p.columns = consumer.weights.depth;
  p.quantizer = consumer.weights.quantizer;
  p.out = quantized(operand, consumer);
  p.parallel = pass.parallel;
  return p;
}

// A linear layer with fp32 weights reads x, any other the operand.
struct LinearInput {
  const float* x = nullptr;
  OperandRows operand = {};
  size_t rows = 0;
};

void record_range(const Pass& pass, const Linear& linear, const LinearInput& input) {
  std::vector<float> copy;
  const bool is_on_host = pass.kernels.memory == nullptr;
  if (!is_on_host) copy_to_host(pass, input.x, input.rows * linear.weights.depth, copy);
  pass.ranges->record(linear, is_on_host ? input.x : copy.data(), input.rows);
}

// x W^T + b; the caller sets the destination.
GemmParams product(const Pass& pass, const Linear& linear, const LinearInput& input) {
  if (pass.ranges != nullptr) record_range(pass, linear, input);
  GemmParams p{};
  p.a_MK = input.x;
  p.rows = input.rows;
  p.weights = linear.weights;
  p.next = linear.next;
  p.bias_N = linear.bias;
  p.role = linear.role;
  p.parallel = pass.parallel;
  if (linear.weights.precision == Precision::kFp32) return p;
  p.a_MK = input.operand.data;
  p.a_stride = spread_columns(linear.weights.depth, linear.weights.precision);
  p.a_scales_M = input.operand.scales_T;
  p.a_outliers_MO = input.operand.side_TO;
  return p;
}

LinearInput input_of(const States& x) {
  return {.x = x.x_TD, .operand = x.operand, .rows = x.rows};
}

LinearInput input_of(const Pass& pass, const Linear& consumer, const IntermediateRows& x, size_t rows) {
  const Precision precision = consumer.weights.precision;
  if (precision == Precision::kFp32) return {.x = reinterpret_cast<const float*>(x.data), .rows = rows};
  if (precision == Precision::kBf16) return {.operand = {.data = x.data}, .rows = rows};
  QuantizeParams p = quantize_params(pass, consumer, rows, x.quantized);
  p.x_bf16_TK = reinterpret_cast<const Bf16*>(x.data);
  p.x_stride = pass.intermediate_stride(p.columns);
  quantize(pass.kernels, p);
  return {.operand = x.quantized, .rows = rows};
}

// In the format of heads and intermediate rows.
void write_to(std::byte* data, const Pass& pass, GemmParams& p) {
  if (pass.weights.precision == Precision::kFp32) {
    p.c_MN = reinterpret_cast<float*>(data);
  } else {
    p.c_bf16_MN = reinterpret_cast<Bf16*>(data);
  }
}

}  // namespace

void copy_to_host(const Pass& pass, const float* values, size_t count, std::vector<float>& host) {
  if (pass.kernels.memory == nullptr) return host.assign(values, values + count);
  host.resize(count);
  pass.kernels.memory->copy_out(host.data(), values, count * sizeof(float));
}

OperandRows OperandRows::from(size_t row, const Linear& consumer) const {
  if (data == nullptr) return *this;
  const PackedWeights& weights = consumer.weights;
  OperandRows rows = *this;
  rows.data += row * spread_columns(weights.depth, weights.precision) * element_bytes(weights.precision);
  if (weights.precision != Precision::kInt8) return rows;
  rows.scales_T += row;
  rows.side_TO += row * weights.quantizer.outliers;
  return rows;
}

void apply_linear(const Pass& pass, const Linear& linear, const LinearStep& step) {
  GemmParams p = product(pass, linear, {.x = step.x, .operand = step.operand, .rows = step.rows});
  p.activation = step.activation;
  p.c_MN = step.y;
  gemm(pass.kernels, p);
}

void project_heads(const Pass& pass, const Linear& linear, const States& x, std::byte* heads_HTK) {
  GemmParams p = product(pass, linear, input_of(x));
  p.head_size = as_size(pass.config.attention_head_size);
  p.head_stride = x.rows * p.head_size;
  write_to(heads_HTK, pass, p);
  gemm(pass.kernels, p);
}

void project_inner(const Pass& pass, const Linear& linear, const States& x, const IntermediateRows& inner) {
  GemmParams p = product(pass, linear, input_of(x));
  p.activation = to_kernel(pass.config.hidden_act);
  p.c_stride = pass.intermediate_stride(linear.weights.outputs);
  write_to(inner.data, pass, p);
  gemm(pass.kernels, p);
}

void add_projection(const Pass& pass, const Linear& linear, const IntermediateRows& rows, const States& y) {
  GemmParams p = product(pass, linear, input_of(pass, linear, rows, y.rows));
  p.residual_MN = p.c_MN = y.x_TD;
  gemm(pass.kernels, p);
}

void apply_norm(const Pass& pass, const Norm& norm, const States& x, const NormStep& step) {
  LayerNormParams p{};
  p.x_TD = p.y_TD = x.x_TD;
  p.residual_TD = step.residual_TD;
  p.mask_T = step.mask_T;
  p.gamma_D = norm.gamma;
  p.beta_D = norm.beta;
  p.rows = x.rows;
  p.columns = norm.columns;
  p.epsilon = pass.config.layer_norm_eps;
  p.parallel = pass.parallel;
  if (step.consumer != nullptr && step.consumer->weights.precision == Precision::kBf16) {
    p.y_bf16_TD = reinterpret_cast<Bf16*>(x.operand.data);
    p.bf16_stride = spread_columns(norm.columns, Precision::kBf16);
  } else if (step.consumer != nullptr && step.consumer->weights.precision == Precision::kInt8) {
    p.quantizer = step.consumer->weights.quantizer;
    p.quantized = quantized(x.operand, *step.consumer);
  }
  layer_norm(pass.kernels, p);
}

void make_operand(const Pass& pass, const Linear& consumer, const States& x) {
  if (consumer.weights.precision == Precision::kInt8) {
    QuantizeParams p = quantize_params(pass, consumer, x.rows, x.operand);
    p.x_TK = x.x_TD;
    quantize(pass.kernels, p);
  } else if (consumer.weights.precision == Precision::kBf16) {
    const size_t columns = consumer.weights.depth;
    round_to_bf16(pass.kernels, x.x_TD, x.rows, columns, reinterpret_cast<Bf16*>(x.operand.data),
                  spread_columns(columns, Precision::kBf16), pass.parallel);
  }
}

}  // namespace deberta
