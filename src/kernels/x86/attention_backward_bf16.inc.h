// The gradient of attention in bf16, block by block of queries as in fp32 (attention_backward_fp32.inc.h), with pairs
// of numbers as the operands of every product (attention_backward_pairs.inc.h):
//   S, dP as in the forward pass; S becomes c keep W and dP becomes G, in fp32; then both are rounded into pairs;
//   dV += P2^T dO;  dK += G2^T Q;  dQ = Gb K;  and the relative terms
// Rows are positions: one without a query is zeros. Sums are fp32 and so are those beyond the last rows of the tables;
// what a product adds to is never rounded to 16 bits. Included by attention_backward_bf16_<isa>.cpp after the operands
// (attention_bf16) and products.
#include "kernels/x86/attention_backward_relative_bf16.inc.h"

namespace deberta {
namespace {

// dV += (c keep W)^T dO, dK += G^T Q, dQ = G K: the content terms alone.
void content_gradients(const PairWork& w, const Block& b) {
  const size_t pairs = (b.positions + 1) / 2;
  PairSum dv = sum_of_lanes(w, w.p2(), 1, w.stride(), b.keys, pairs);
  dv.b = w.at(w.p.dout_pairs);
  dv.c = w.task.dv;
  dv.c_stride = w.task.dv_stride;
  add_sum(dv);
  PairSum dk = sum_of_lanes(w, w.g2(), 1, w.stride(), b.keys, pairs);
  dk.b = w.at(w.p.q_pairs);
  dk.c = w.task.dk;
  dk.c_stride = w.task.dk_stride;
  add_sum(dk);
  PairSum dq = sum_of_rows<Bf16Pairs>(w.gb(), w.stride(), 2, b.positions, (b.keys + 1) / 2, w.t.head_size);
  dq.b = w.at(w.p.k_even);
  dq.c = w.at(w.l.dq);
  clear_floats(dq.c, b.positions * w.t.head_size);
  add_long_sum(dq);
}

void add_block(const PairWork& w, const Block& b) {
  pair_block(w, b);
  content_gradients(w, b);
  if (w.t.kr != nullptr || w.t.qr != nullptr) relative_gradients(w, b);
  store_queries(w, b);
}

void add_gradients(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch) {
  const PairWork w = prepare_pairs(task, extent, scratch);
  for (size_t begin = 0; begin < w.t.queries;) {
    const Block b = next_block(w.t, begin);
    add_block(w, b);
    begin = b.end;
  }
}

size_t gradient_bytes(const AttentionExtent& extent) {
  return pair_layout_of(extent).size_bytes;
}

constexpr AttentionBackwardKernel kBackwardKernel = {.scratch_bytes = gradient_bytes, .add_gradients = add_gradients};

}  // namespace
}  // namespace deberta
