#include "train/ops/linear.h"

#include <ATen/TensorOperators.h>

#include "kernels/gemm.h"
#include "kernels/linear_gradient.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LinearCall {
  const Compute* compute = nullptr;
  bool has_bias = false;
};

class KernelLinear : public torch::autograd::Function<KernelLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const Compute* compute, const at::Tensor& x,
                            const at::Tensor& weight, const std::optional<at::Tensor>& bias_O) {
    const at::Tensor x_NI = x.contiguous(), weight_OI = weight.contiguous();
    context->save_for_backward({x_NI, weight_OI});
    hold(context, LinearCall{compute, bias_O.has_value()});
    return multiply(*compute, x_NI, weight_OI, bias_O.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const auto& [shared, has_bias] = held<LinearCall>(context);
    const Compute& compute = *shared;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor dy_NO = outputs[0].contiguous(), &x_NI = saved[0], &weight_OI = saved[1];
    at::Tensor dx_NI, dw_OI, db_O;
    if (context->needs_input_grad(0)) dx_NI = new_floats(x_NI.sizes());
    if (context->needs_input_grad(1)) dw_OI = new_floats(weight_OI.sizes());
    if (has_bias && context->needs_input_grad(2)) db_O = new_floats({weight_OI.size(0)});
    LinearGradientParams p{};
    p.dy_TN = dy_NO.const_data_ptr<float>();
    p.x_TK = x_NI.const_data_ptr<float>();
    p.w_NK = weight_OI.const_data_ptr<float>();
    p.rows = rows_of(x_NI);
    p.outputs = rows_of(weight_OI);
    p.inputs = columns_of(x_NI);
    p.dx_TK = floats_or_null(dx_NI);
    p.dw_NK = floats_or_null(dw_OI);
    p.db_N = floats_or_null(db_O);
    p.parallel = compute.parallel;
    const at::Tensor scratch = new_scratch(linear_gradient_scratch_bytes(compute.kernels, p));
    p.scratch = scratch.mutable_data_ptr();
    linear_gradient(compute.kernels, p);
    return {at::Tensor(), dx_NI, dw_OI, db_O};
  }

 private:
  static at::Tensor multiply(const Compute& compute, const at::Tensor& x_NI, const at::Tensor& weight_OI,
                             const at::Tensor& bias_O) {
    const WeightSource source{weight_OI.const_data_ptr<float>(), rows_of(weight_OI), columns_of(weight_OI)};
    const at::Tensor packed = new_scratch(gemm_packed_bytes(compute.kernels, Precision::kFp32, source));
    at::Tensor y_NO = new_floats({x_NI.size(0), weight_OI.size(0)});
    GemmParams p{};
    p.a_MK = x_NI.const_data_ptr<float>();
    p.rows = rows_of(x_NI);
    p.weights = gemm_pack(compute.kernels, Precision::kFp32, source, packed.mutable_data_ptr(), compute.parallel);
    p.bias_N = bias_O.defined() ? bias_O.const_data_ptr<float>() : nullptr;
    p.c_MN = y_NO.mutable_data_ptr<float>();
    p.parallel = compute.parallel;
    gemm(compute.kernels, p);
    return y_NO;
  }
};

}  // namespace

at::Tensor linear(const Compute& compute, const at::Tensor& x_NI, const at::Tensor& weight_OI,
                  const at::Tensor& bias_O) {
  if (runs_kernels(compute, x_NI)) return KernelLinear::apply(&compute, x_NI, weight_OI, to_optional(bias_O));
  const at::Tensor y_NO = x_NI.matmul(weight_OI.t());
  return bias_O.defined() ? y_NO + bias_O : y_NO;
}

}  // namespace deberta::train
