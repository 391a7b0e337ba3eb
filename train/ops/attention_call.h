// What operations with attention in them have in common: the calls of the kernels. fp32 on the CPU; in bf16 q, k, v and
// the output are operands (linear_call.h). A matrix may be some columns of a wider one. Letters as in attention.h
#pragma once
#include "train/ops/attention.h"

namespace deberta::train {

struct AttentionOutputs {
  at::Tensor out_ND, lse_HN;
};

// `in` has operands for q, k and v; `out_ND` is written.
AttentionOutputs run_attention(const Compute& compute, const AttentionInputs& in, const at::Tensor& out_ND);

// fp32. dq, dk and dv are written; dkr and dqr are made where there is a table.
struct AttentionGradients {
  at::Tensor dq_ND, dk_TD, dv_TD;
  at::Tensor dkr_RD, dqr_RD;
};
void differentiate_attention(const Compute& compute, const AttentionInputs& in, const AttentionOutputs& outputs,
                             const at::Tensor& dout_ND, AttentionGradients& gradients);

// Without its tensors, for the backward pass: those go through save_for_backward().
inline AttentionInputs without_tensors(AttentionInputs in) {
  in.q_ND = in.k_TD = in.v_TD = in.kr_RD = in.qr_RD = at::Tensor();
  return in;
}

}  // namespace deberta::train
