// What operations with linear layers in them have in common: operands as the products of a precision read them, and the
// calls of the kernels. fp32 on the CPU.
// N rows  I inputs  O outputs
#pragma once
#include "kernels/linear_gradient.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {

// x rounded for the products, in rows that may be longer; in fp32 x itself.
at::Tensor to_operand(const Compute& compute, const at::Tensor& x_NI);

// What the operand's rows hold, in fp32; in fp32 x itself.
at::Tensor widened(const Compute& compute, const at::Tensor& operand_NI);

// Rows of an operand: `columns` numbers, then room.
at::Tensor new_operand(const Compute& compute, int64_t rows, int64_t columns);

// y = x W^T + b, in fp32 or as an operand. Several weights are one with all their outputs. `bias_O` may be undefined.
at::Tensor multiply(const Compute& compute, const at::Tensor& operand_NI, at::TensorList weights_OI,
                    const at::Tensor& bias_O);
at::Tensor multiply_to_operand(const Compute& compute, const at::Tensor& operand_NI, at::TensorList weights_OI,
                               const at::Tensor& bias_O);

// The operand as `params` names it, with its precision and stride.
void set_operand(const Compute& compute, const at::Tensor& operand_NI, LinearGradientParams& params);

struct LinearGradients {
  at::Tensor dx_NI, dw_OI, db_O;  // undefined: not wanted
};
struct WantedGradients {
  bool dx = true, dw = true, db = true;
};
LinearGradients differentiate(const Compute& compute, const at::Tensor& dy_NO, const at::Tensor& operand_NI,
                              at::TensorList weights_OI, const WantedGradients& wanted);

}  // namespace deberta::train
