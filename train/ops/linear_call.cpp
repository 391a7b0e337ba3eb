// Rounds operands to the precision of the products, and calls gemm and linear_gradient on them.
#include "train/ops/linear_call.h"

#include "kernels/gemm.h"
#include "kernels/operand.h"
#include "train/ops/packed_store.h"

namespace deberta::train {
namespace {

int64_t outputs_of(at::TensorList weights_OI) {
  int64_t outputs = 0;
  for (const at::Tensor& weight_OI : weights_OI) outputs += weight_OI.size(0);
  return outputs;
}

// Runs y = x W^T + b; `set_output` sets where y goes.
template <class SetOutput>
void run(const Compute& compute, const at::Tensor& operand_NI, at::TensorList weights_OI, const at::Tensor& bias_O,
         SetOutput set_output) {
  const PackedTensor packed = packed_weight(compute, weights_OI, Direction::kForward);
  GemmParams p{};
  p.a_MK = operand_NI.const_data_ptr();
  p.a_stride = columns_of(operand_NI);
  p.rows = rows_of(operand_NI);
  p.weights = packed.weights;
  p.bias_N = bias_O.defined() ? bias_O.const_data_ptr<float>() : nullptr;
  p.parallel = compute.parallel;
  set_output(p);
  gemm(compute.kernels, p);
}

}  // namespace

at::Tensor new_operand(const Compute& compute, int64_t rows, int64_t columns) {
  if (compute.precision == Precision::kFp32) return new_floats({rows, columns});
  return new_bf16({rows, static_cast<int64_t>(spread_columns(as_size(columns), compute.precision))});
}

at::Tensor to_operand(const Compute& compute, const at::Tensor& x_NI) {
  if (compute.precision == Precision::kFp32) return x_NI;
  const at::Tensor rounded = new_operand(compute, x_NI.size(0), x_NI.size(1));
  round_to_bf16(compute.kernels, x_NI.const_data_ptr<float>(), rows_of(x_NI), columns_of(x_NI), bf16_of(rounded),
                columns_of(rounded), compute.parallel);
  return rounded;
}

at::Tensor widened(const Compute& compute, const at::Tensor& operand_NI) {
  if (compute.precision == Precision::kFp32) return operand_NI;
  const at::Tensor x_NI = new_floats(operand_NI.sizes());
  widen_from_bf16(compute.kernels, bf16_of(operand_NI), as_size(operand_NI.stride(0)), rows_of(x_NI), columns_of(x_NI),
                  x_NI.mutable_data_ptr<float>(), compute.parallel);
  return x_NI;
}

at::Tensor multiply(const Compute& compute, const at::Tensor& operand_NI, at::TensorList weights_OI,
                    const at::Tensor& bias_O) {
  at::Tensor y_NO = new_floats({operand_NI.size(0), outputs_of(weights_OI)});
  run(compute, operand_NI, weights_OI, bias_O, [&](GemmParams& p) { p.c_MN = y_NO.mutable_data_ptr<float>(); });
  return y_NO;
}

at::Tensor multiply_to_operand(const Compute& compute, const at::Tensor& operand_NI, at::TensorList weights_OI,
                               const at::Tensor& bias_O) {
  if (compute.precision == Precision::kFp32) return multiply(compute, operand_NI, weights_OI, bias_O);
  at::Tensor y_NO = new_operand(compute, operand_NI.size(0), outputs_of(weights_OI));
  run(compute, operand_NI, weights_OI, bias_O, [&](GemmParams& p) {
    p.c_bf16_MN = bf16_of(y_NO);
    p.c_stride = columns_of(y_NO);
  });
  return y_NO;
}

void set_operand(const Compute& compute, const at::Tensor& operand_NI, LinearGradientParams& params) {
  params.precision = compute.precision;
  params.x_stride = columns_of(operand_NI);
  if (compute.precision == Precision::kFp32) {
    params.x_TK = operand_NI.const_data_ptr<float>();
  } else {
    params.x_bf16_TK = bf16_of(operand_NI);
  }
}

LinearGradients differentiate(const Compute& compute, const at::Tensor& dy_NO, const at::Tensor& operand_NI,
                              at::TensorList weights_OI, const WantedGradients& wanted) {
  const int64_t outputs = outputs_of(weights_OI), inputs = weights_OI.front().size(1);
  LinearGradients gradients;
  PackedTensor packed;
  LinearGradientParams p{};
  if (wanted.dx) {
    gradients.dx_NI = new_floats({dy_NO.size(0), inputs});
    packed = packed_weight(compute, weights_OI, Direction::kBackward);
    p.packed_w = &packed.weights;
  }
  if (wanted.dw) gradients.dw_OI = new_floats({outputs, inputs});
  if (wanted.db) gradients.db_O = new_floats({outputs});
  set_operand(compute, operand_NI, p);
  p.dy_TN = dy_NO.const_data_ptr<float>();
  p.rows = rows_of(dy_NO);
  p.outputs = as_size(outputs);
  p.inputs = as_size(inputs);
  p.dx_TK = floats_or_null(gradients.dx_NI);
  p.dw_NK = floats_or_null(gradients.dw_OI);
  p.db_N = floats_or_null(gradients.db_O);
  p.parallel = compute.parallel;
  const at::Tensor scratch = new_scratch(linear_gradient_scratch_bytes(compute.kernels, p));
  p.scratch = scratch.mutable_data_ptr();
  linear_gradient(compute.kernels, p);
  return gradients;
}

}  // namespace deberta::train
