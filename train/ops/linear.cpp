#include "train/ops/linear.h"

#include <ATen/TensorOperators.h>

namespace deberta::train {

at::Tensor linear(const Compute&, const at::Tensor& x_NI, const at::Tensor& weight_OI, const at::Tensor& bias_O) {
  const at::Tensor y_NO = x_NI.matmul(weight_OI.t());
  return bias_O.defined() ? y_NO + bias_O : y_NO;
}

}  // namespace deberta::train
