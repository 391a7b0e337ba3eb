#include "train/ops/attention.h"

#include "kernels/attention.h"
#include "kernels/attention_backward.h"
#include "train/ops/composed_attention.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What the backward pass needs of the inputs besides their tensors.
struct AttentionCall {
  const Compute* compute = nullptr;
  AttentionInputs inputs;  // no tensors in it
};

// The columns of a head lie together.
template <class Data>
HeadRows<Data> heads_of(Data* data, const at::Tensor& x_ND, int64_t heads) {
  return {data, columns_of(x_ND), columns_of(x_ND) / as_size(heads)};
}
HeadRows<const float> read_heads(const at::Tensor& x_ND, int64_t heads) {
  return heads_of(x_ND.const_data_ptr<float>(), x_ND, heads);
}
HeadRows<const void> read_any(const at::Tensor& x_ND, int64_t heads) {
  return heads_of<const void>(x_ND.const_data_ptr(), x_ND, heads);
}
HeadRows<float> write_heads(const at::Tensor& x_ND, int64_t heads) {
  return heads_of(x_ND.mutable_data_ptr<float>(), x_ND, heads);
}

// What both passes have in common; of `in` no tensors are read.
template <class Params>
Params params_of(const Compute& compute, const AttentionInputs& in, const at::Tensor& k_TD) {
  Params p;
  p.sequences = in.keys->sequences();
  p.heads = as_size(in.heads);
  p.head_size = columns_of(k_TD) / p.heads;
  p.starts = in.keys->starts.data();
  p.query_starts = in.queries->starts.data();
  p.query_positions = in.queries->positions_N.empty() ? nullptr : in.queries->positions_N.data();
  p.scale = in.scale;
  p.lut = in.lut.get();
  p.key_mask_T = in.keys->mask_N.empty() ? nullptr : in.keys->mask_N.data();
  p.query_mask_T = in.queries->mask_N.empty() ? nullptr : in.queries->mask_N.data();
  p.is_causal = in.is_causal;
  p.dropout = in.dropout;
  p.parallel = compute.parallel;
  return p;
}

// The table in the layout that the kernels read, into `memory`.
RelativeTable pack_table(const Compute& compute, const at::Tensor& table_RD, int64_t heads, bool is_reversed,
                         at::Tensor& memory) {
  if (!table_RD.defined()) return {};
  const RelativeTableParams params{.heads = as_size(heads),
                                   .head_size = columns_of(table_RD) / as_size(heads),
                                   .rows = rows_of(table_RD),
                                   .is_reversed = is_reversed,
                                   .parallel = compute.parallel};
  memory = new_scratch(attention_table_bytes(compute.kernels, params));
  return attention_pack_table(compute.kernels, params, read_heads(table_RD, heads), memory.mutable_data_ptr());
}

struct AttentionOutputs {
  at::Tensor out_ND, lse_HN;
};

AttentionOutputs run_forward(const Compute& compute, const AttentionInputs& in) {
  AttentionOutputs outputs{new_floats(in.q_ND.sizes()), new_floats({in.heads, in.q_ND.size(0)})};
  at::Tensor kr_memory, qr_memory;
  auto p = params_of<AttentionParams>(compute, in, in.k_TD);
  p.q = read_any(in.q_ND, in.heads);
  p.k = read_any(in.k_TD, in.heads);
  p.v = read_any(in.v_TD, in.heads);
  p.out = heads_of<void>(outputs.out_ND.mutable_data_ptr(), outputs.out_ND, in.heads);
  p.has_c2p = in.kr_RD.defined();
  p.has_p2c = in.qr_RD.defined();
  p.kr = pack_table(compute, in.kr_RD, in.heads, true, kr_memory);
  p.qr = pack_table(compute, in.qr_RD, in.heads, false, qr_memory);
  p.lse_HT = outputs.lse_HN.mutable_data_ptr<float>();
  const at::Tensor scratch = new_scratch(attention_scratch_bytes(compute.kernels, p));
  p.scratch = scratch.mutable_data_ptr();
  deberta::attention(compute.kernels, p);
  return outputs;
}

class KernelAttention : public torch::autograd::Function<KernelAttention> {
 public:
  static at::Tensor forward(AutogradContext* context, const Compute* compute, const AttentionInputs& inputs,
                            const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::optional<at::Tensor>& kr, const std::optional<at::Tensor>& qr) {
    AttentionInputs in = inputs;
    in.q_ND = q.contiguous();
    in.k_TD = k.contiguous();
    in.v_TD = v.contiguous();
    if (kr) in.kr_RD = kr->contiguous();
    if (qr) in.qr_RD = qr->contiguous();
    const AttentionOutputs outputs = run_forward(*compute, in);
    context->save_for_backward({in.q_ND, in.k_TD, in.v_TD, in.kr_RD, in.qr_RD, outputs.out_ND, outputs.lse_HN});
    in.q_ND = in.k_TD = in.v_TD = in.kr_RD = in.qr_RD = at::Tensor();
    hold(context, AttentionCall{compute, std::move(in)});
    return outputs.out_ND;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const auto& [compute, in] = held<AttentionCall>(context);
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &kr = saved[3], &qr = saved[4];
    const at::Tensor dout = outputs[0].contiguous();
    const at::Tensor dq = new_floats(q.sizes()), dk = new_floats(k.sizes()), dv = new_floats(v.sizes());
    at::Tensor dkr, dqr;
    auto p = params_of<AttentionBackwardParams>(*compute, in, k);
    p.q = read_heads(q, in.heads);
    p.k = read_heads(k, in.heads);
    p.v = read_heads(v, in.heads);
    if (kr.defined()) {
      dkr = new_floats(kr.sizes());
      p.kr = read_heads(kr, in.heads);
      p.dkr = write_heads(dkr, in.heads);
      p.relative_rows = rows_of(kr);
    }
    if (qr.defined()) {
      dqr = new_floats(qr.sizes());
      p.qr = read_heads(qr, in.heads);
      p.dqr = write_heads(dqr, in.heads);
      p.relative_rows = rows_of(qr);
    }
    p.out = read_heads(saved[5], in.heads);
    p.lse_HT = saved[6].const_data_ptr<float>();
    p.dout = read_heads(dout, in.heads);
    p.dq = write_heads(dq, in.heads);
    p.dk = write_heads(dk, in.heads);
    p.dv = write_heads(dv, in.heads);
    const at::Tensor scratch = new_scratch(attention_backward_scratch_bytes(compute->kernels, p));
    p.scratch = scratch.mutable_data_ptr();
    attention_backward(compute->kernels, p);
    return {at::Tensor(), at::Tensor(), dq, dk, dv, dkr, dqr};
  }
};

}  // namespace

at::Tensor attention(const Compute& compute, const AttentionInputs& in) {
  if (!runs_kernels(compute, in.q_ND)) return composed_attention(in);
  return KernelAttention::apply(&compute, in, in.q_ND, in.k_TD, in.v_TD, to_optional(in.kr_RD), to_optional(in.qr_RD));
}

}  // namespace deberta::train
