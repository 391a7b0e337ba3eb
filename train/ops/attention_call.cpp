// Fills the kernels' parameter structs from tensors: head strides, masks, packed tables, scratch.
#include "train/ops/attention_call.h"

#include "kernels/attention.h"
#include "kernels/attention_backward.h"
#include "train/ops/kernel_call.h"
#include "train/ops/linear_call.h"

namespace deberta::train {
namespace {

// The columns of a head lie together.
template <class Data>
HeadRows<Data> heads_of(Data* data, const at::Tensor& x_ND, int64_t heads) {
  return {data, as_size(x_ND.stride(0)), columns_of(x_ND) / as_size(heads)};
}
HeadRows<const float> read_heads(const at::Tensor& x_ND, int64_t heads) {
  return heads_of(x_ND.const_data_ptr<float>(), x_ND, heads);
}
HeadRows<const Bf16> read_bf16_heads(const at::Tensor& x_ND, int64_t heads) {
  return heads_of(static_cast<const Bf16*>(x_ND.const_data_ptr()), x_ND, heads);
}
HeadRows<const void> read_any(const at::Tensor& x_ND, int64_t heads) {
  return heads_of(x_ND.const_data_ptr(), x_ND, heads);
}
HeadRows<float> write_heads(const at::Tensor& x_ND, int64_t heads) {
  return heads_of(x_ND.mutable_data_ptr<float>(), x_ND, heads);
}

// What both passes have in common; of `in` no tensors but k are read.
template <class Params>
Params params_of(const Compute& compute, const AttentionInputs& in) {
  Params p;
  p.precision = compute.precision;
  p.sequences = in.keys->sequences();
  p.heads = as_size(in.heads);
  p.head_size = columns_of(in.k_TD) / p.heads;
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
  const RelativeTableParams params{.precision = compute.precision,
                                   .heads = as_size(heads),
                                   .head_size = columns_of(table_RD) / as_size(heads),
                                   .rows = rows_of(table_RD),
                                   .is_reversed = is_reversed,
                                   .parallel = compute.parallel};
  memory = new_scratch(attention_table_bytes(compute.kernels, params));
  return attention_pack_table(compute.kernels, params, read_heads(table_RD, heads), memory.mutable_data_ptr());
}

void set_operands(const Compute& compute, const AttentionInputs& in, AttentionBackwardParams& p) {
  if (compute.precision == Precision::kFp32) {
    p.q = read_heads(in.q_ND, in.heads);
    p.k = read_heads(in.k_TD, in.heads);
    p.v = read_heads(in.v_TD, in.heads);
  } else {
    p.q_bf16 = read_bf16_heads(in.q_ND, in.heads);
    p.k_bf16 = read_bf16_heads(in.k_TD, in.heads);
    p.v_bf16 = read_bf16_heads(in.v_TD, in.heads);
  }
}

void set_tables(const AttentionInputs& in, AttentionGradients& gradients, AttentionBackwardParams& p) {
  if (in.kr_RD.defined()) {
    gradients.dkr_RD = new_floats(in.kr_RD.sizes());
    p.kr = read_heads(in.kr_RD, in.heads);
    p.dkr = write_heads(gradients.dkr_RD, in.heads);
    p.relative_rows = rows_of(in.kr_RD);
  }
  if (in.qr_RD.defined()) {
    gradients.dqr_RD = new_floats(in.qr_RD.sizes());
    p.qr = read_heads(in.qr_RD, in.heads);
    p.dqr = write_heads(gradients.dqr_RD, in.heads);
    p.relative_rows = rows_of(in.qr_RD);
  }
}

}  // namespace

AttentionOutputs run_attention(const Compute& compute, const AttentionInputs& in, const at::Tensor& out_ND) {
  AttentionOutputs outputs{out_ND, new_floats({in.heads, in.q_ND.size(0)})};
  at::Tensor kr_memory, qr_memory;
  auto p = params_of<AttentionParams>(compute, in);
  p.q = read_any(in.q_ND, in.heads);
  p.k = read_any(in.k_TD, in.heads);
  p.v = read_any(in.v_TD, in.heads);
  p.out = heads_of(out_ND.mutable_data_ptr(), out_ND, in.heads);
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

void differentiate_attention(const Compute& compute, const AttentionInputs& in, const AttentionOutputs& outputs,
                             const at::Tensor& dout_ND, AttentionGradients& gradients) {
  auto p = params_of<AttentionBackwardParams>(compute, in);
  set_operands(compute, in, p);
  set_tables(in, gradients, p);
  const at::Tensor out = widened(compute, outputs.out_ND);
  p.out = read_heads(out, in.heads);
  p.lse_HT = outputs.lse_HN.const_data_ptr<float>();
  p.dout = read_heads(dout_ND, in.heads);
  p.dq = write_heads(gradients.dq_ND, in.heads);
  p.dk = write_heads(gradients.dk_TD, in.heads);
  p.dv = write_heads(gradients.dv_TD, in.heads);
  const at::Tensor scratch = new_scratch(attention_backward_scratch_bytes(compute.kernels, p));
  p.scratch = scratch.mutable_data_ptr();
  attention_backward(compute.kernels, p);
}

}  // namespace deberta::train
