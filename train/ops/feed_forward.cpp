// Keeps the numbers before the activation only, and recomputes the activation in the backward pass.
#include "train/ops/feed_forward.h"

#include "kernels/activation_rows.h"
#include "train/ops/activation.h"
#include "train/ops/linear.h"
#include "train/ops/linear_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct FeedForwardCall {
  const Compute* compute = nullptr;
  KernelActivation activation = KernelActivation::kLinear;
};

bool is_bf16(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16;
}

// f of an operand, as an operand. The room behind its rows is computed with.
at::Tensor activated(const FeedForwardCall& call, const at::Tensor& before_NF) {
  const at::Tensor after_NF = at::empty(before_NF.sizes(), before_NF.options());
  ActivationParams p{.activation = call.activation, .count = as_size(before_NF.numel())};
  if (is_bf16(before_NF)) {
    p.x_bf16 = bf16_of(before_NF);
    p.y_bf16 = bf16_of(after_NF);
  } else {
    p.x = before_NF.const_data_ptr<float>();
    p.y = after_NF.mutable_data_ptr<float>();
  }
  p.parallel = call.compute->parallel;
  deberta::activation(call.compute->kernels, p);
  return after_NF;
}

// The gradient of the input of f overwrites that of its output, row by row where rows have room.
void differentiate_activation(const FeedForwardCall& call, const at::Tensor& before_NF, const at::Tensor& d_NF) {
  const size_t rows = is_bf16(before_NF) ? rows_of(d_NF) : 1, columns = as_size(d_NF.numel()) / rows;
  const Parallel whole = rows == 1 ? call.compute->parallel : serial();
  const auto differentiate_row = [&](size_t row) {
    float* d_F = d_NF.mutable_data_ptr<float>() + row * columns;
    ActivationGradientParams p{
        .activation = call.activation, .dy = d_F, .dx = d_F, .count = columns, .parallel = whole};
    if (is_bf16(before_NF)) {
      p.x_bf16 = bf16_of(before_NF) + row * columns_of(before_NF);
    } else {
      p.x = before_NF.const_data_ptr<float>();
    }
    activation_gradient(call.compute->kernels, p);
  };
  if (rows == 1) return differentiate_row(0);
  parallel_for(call.compute->parallel, rows, [&](size_t row, size_t) { differentiate_row(row); });
}

class KernelFeedForward : public torch::autograd::Function<KernelFeedForward> {
 public:
  static at::Tensor forward(AutogradContext* context, const FeedForwardCall& call, const at::Tensor& x,
                            const at::Tensor& up, const at::Tensor& up_bias, const at::Tensor& down,
                            const at::Tensor& down_bias) {
    const Compute& compute = *call.compute;
    const at::Tensor x_ND = to_operand(compute, x.contiguous()), up_FD = up.contiguous(), down_DF = down.contiguous();
    const at::Tensor before_NF = multiply_to_operand(compute, x_ND, up_FD, up_bias);
    context->save_for_backward({x_ND, up_FD, before_NF, down_DF});
    hold(context, call);
    return multiply(compute, activated(call, before_NF), down_DF, down_bias);
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const FeedForwardCall& call = held<FeedForwardCall>(context);
    const Compute& compute = *call.compute;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x_ND = saved[0], &up_FD = saved[1], &before_NF = saved[2], &down_DF = saved[3];
    const LinearGradients down =
        differentiate(compute, outputs[0].contiguous(), activated(call, before_NF), down_DF,
                      {.dw = context->needs_input_grad(3), .db = context->needs_input_grad(4)});
    differentiate_activation(call, before_NF, down.dx_NI);
    const LinearGradients up = differentiate(
        compute, down.dx_NI, x_ND, up_FD,
        {.dx = context->needs_input_grad(0), .dw = context->needs_input_grad(1), .db = context->needs_input_grad(2)});
    return {at::Tensor(), up.dx_NI, up.dw_OI, up.db_O, down.dw_OI, down.db_O};
  }
};

}  // namespace

at::Tensor feed_forward(const Compute& compute, const at::Tensor& x_ND, const FeedForwardWeights& w,
                        KernelActivation activation) {
  const bool has_even_width = w.up_FD.size(0) % 2 == 0;  // else the number behind a row of an operand has to be 0
  if (runs_kernels(compute, x_ND) && has_even_width) {
    return KernelFeedForward::apply(FeedForwardCall{&compute, activation}, x_ND, w.up_FD, w.up_bias_F, w.down_DF,
                                    w.down_bias_D);
  }
  const at::Tensor before_NF = linear(compute, x_ND, w.up_FD, w.up_bias_F);
  return linear(compute, activate(compute, before_NF, activation), w.down_DF, w.down_bias_D);
}

}  // namespace deberta::train
