// The fused kernels with their backward pass as one autograd function, or the composition for doubles.
#include "train/ops/attention.h"

#include <ATen/ops/empty_like.h>

#include "train/ops/attention_call.h"
#include "train/ops/composed_attention.h"
#include "train/ops/kernel_call.h"
#include "train/ops/linear_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What the backward pass needs of the inputs besides their tensors.
struct AttentionCall {
  const Compute* compute = nullptr;
  AttentionInputs inputs;  // no tensors in it
};

// As the kernels read q, k and v.
at::Tensor rounded(const Compute& compute, const at::Tensor& x_ND) {
  return to_operand(compute, x_ND.contiguous()).narrow(1, 0, x_ND.size(1));
}

class KernelAttention : public torch::autograd::Function<KernelAttention> {
 public:
  static at::Tensor forward(AutogradContext* context, const Compute* compute, const AttentionInputs& inputs,
                            const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::optional<at::Tensor>& kr, const std::optional<at::Tensor>& qr) {
    AttentionInputs in = inputs;
    in.q_ND = rounded(*compute, q);
    in.k_TD = rounded(*compute, k);
    in.v_TD = rounded(*compute, v);
    if (kr) in.kr_RD = kr->contiguous();
    if (qr) in.qr_RD = qr->contiguous();
    const AttentionOutputs outputs = run_attention(*compute, in, at::empty_like(in.q_ND));
    context->save_for_backward({in.q_ND, in.k_TD, in.v_TD, in.kr_RD, in.qr_RD, outputs.out_ND, outputs.lse_HN});
    hold(context, AttentionCall{compute, without_tensors(in)});
    return widened(*compute, outputs.out_ND);
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const auto& [compute, inputs] = held<AttentionCall>(context);
    const variable_list saved = context->get_saved_variables();
    AttentionInputs in = inputs;
    in.q_ND = saved[0];
    in.k_TD = saved[1];
    in.v_TD = saved[2];
    in.kr_RD = saved[3];
    in.qr_RD = saved[4];
    AttentionGradients d{new_floats(in.q_ND.sizes()), new_floats(in.k_TD.sizes()), new_floats(in.v_TD.sizes()), {}, {}};
    differentiate_attention(*compute, in, {saved[5], saved[6]}, outputs[0].contiguous(), d);
    return {at::Tensor(), at::Tensor(), d.dq_ND, d.dk_TD, d.dv_TD, d.dkr_RD, d.dqr_RD};
  }
};

}  // namespace

at::Tensor attention(const Compute& compute, const AttentionInputs& in) {
  if (!runs_kernels(compute, in.q_ND)) return composed_attention(in);
  return KernelAttention::apply(&compute, in, in.q_ND, in.k_TD, in.v_TD, to_optional(in.kr_RD), to_optional(in.qr_RD));
}

}  // namespace deberta::train
