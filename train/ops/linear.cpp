// One product forward, two backward; the weight is packed by packed_store.h.
#include "train/ops/linear.h"

#include <ATen/TensorOperators.h>

#include "train/ops/linear_call.h"

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
    const at::Tensor operand_NI = to_operand(*compute, x.contiguous()), weight_OI = weight.contiguous();
    context->save_for_backward({operand_NI, weight_OI});
    hold(context, LinearCall{compute, bias_O.has_value()});
    return multiply(*compute, operand_NI, weight_OI, bias_O.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const auto& [compute, has_bias] = held<LinearCall>(context);
    const variable_list saved = context->get_saved_variables();
    const LinearGradients g = differentiate(*compute, outputs[0].contiguous(), saved[0], saved[1],
                                            {.dx = context->needs_input_grad(0),
                                             .dw = context->needs_input_grad(1),
                                             .db = has_bias && context->needs_input_grad(2)});
    return {at::Tensor(), g.dx_NI, g.dw_OI, g.db_O};
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
