// The gradient of attention of one sequence and one head, without gathers and without an L x L buffer:
//   K^T, P2C as for attention; V^T
//   for each block of queries:  S as attention has it;  W = 2^(scale S - lse);  dP = dO V^T
//                               S becomes c keep W, dP becomes G;  dV += (c keep W)^T dO;  dQ = G K;  dK += G^T Q
//                               dQ_i += G[i][i-t] Kr[row(t)], dKr[row(t)] += G[i][i-t] Q_i;  the same for p2c
// over all distances t: G is copied between zeros, so that a skew of it is a matter of strides, and rows of the tables
// are looked up, not copied. Beyond the last rows of the tables (t_lo, t_hi), entries of G are summed first. Queries
// are placed by position for this: a query that was not asked for is a row of zeros. Each sum over queries is a chain
// for each block, each sum over keys one for each kDepth. Memory is linear in the length. Included by
// attention_backward_<format>_<isa>.cpp after the operands (attention_fp32) and products.
#include "kernels/x86/attention_backward_relative.inc.h"
#include "kernels/x86/attention_backward_work.inc.h"

namespace deberta {
namespace {

inline bool has_gradient(const Work& w, size_t query) {  // a NaN has one
  return (w.t.query_mask == nullptr || w.t.query_mask[query] != 0) && !(w.task.lse[query] == -__builtin_inff());
}

// Rows of the keys' outputs begin as zeros; masked keys, which may hold anything, become rows of zeros.
Work prepare_gradients(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch) {
  const AttentionTask& t = task.forward;
  Work w{task, t, gradient_layout_of(extent), scratch, (const float*)t.k, t.k_stride};
  for (size_t j = 0; j < t.keys; j += kBlock)
    prepare_keys(t, extent, j, j + kBlock < t.keys ? j + kBlock : t.keys, scratch, w.own());
  transpose_keys({(const float*)t.v, t.v_stride}, t.keys, t.head_size, w.at(w.l.vt), w.l.scores.kt_stride);
  clear_floats(w.at(w.l.g), (kBlock + 2 * kRowEdge) * w.l.g_stride);
  for (size_t j = 0; j < t.keys; ++j) {
    clear_floats(task.dk + j * task.dk_stride, t.head_size);
    clear_floats(task.dv + j * task.dv_stride, t.head_size);
  }
  if (t.key_mask == nullptr) return w;
  for (size_t j = 0; j < t.keys; ++j) {
    float* to = w.at(w.l.keys) + j * t.head_size;
    clear_floats(to, t.head_size);
    if (t.key_mask[j] != 0) copy_floats(to, (const float*)t.k + j * t.k_stride, t.head_size);
  }
  w.keys = w.at(w.l.keys);
  w.keys_stride = t.head_size;
  return w;
}

// q, by row and by position, and dO, by row; zeros for queries without a gradient, which may hold anything.
void copy_queries(const Work& w, const Block& b) {
  const size_t size = w.t.head_size;
  clear_floats(w.at(w.l.q), kBlock * size);
  clear_floats(w.at(w.l.placed_q), kBlock * size);
  clear_floats(w.at(w.l.dout), kBlock * size);
  for (size_t i = b.begin; i < b.end; ++i) {
    if (!has_gradient(w, i)) continue;
    const float* q = (const float*)w.t.q + i * w.t.q_stride;
    copy_floats(w.at(w.l.q) + (i - b.begin) * size, q, size);
    copy_floats(w.at(w.l.placed_q) + place_of(w, b, i) * size, q, size);
    copy_floats(w.at(w.l.dout) + (i - b.begin) * size, w.task.dout + i * w.task.dout_stride, size);
  }
}

// S and dP.
void products_of_block(const Work& w, const Block& b) {
  const Left q = left_of(w.t, w.t.q, w.t.q_stride, b.begin, b.end, nullptr);
  relative_terms(w.t, w.l.scores, q, b.begin, b.end, b.keys, w.scratch, w.own());
  content_scores(w.t, w.l.scores, q, b.rows(), b.keys, w.scratch, w.own());
  Product p{};
  p.a = w.at(w.l.dout);
  p.a_stride = w.t.head_size;
  p.b = w.at(w.l.vt);
  p.b_stride = w.l.scores.kt_stride;
  p.rows = b.rows();
  p.columns = round_up(b.keys, kUnit);
  p.depth = w.t.head_size;
  p.c = w.at(w.l.dp);
  p.c_stride = w.l.scores.s_stride;
  product<false>(p);
}

// dO_i . O_i
inline float rho_of(const Work& w, size_t query) {
  const float* out = w.task.out + query * w.task.out_stride;
  const float* dout = w.task.dout + query * w.task.dout_stride;
  Vector total = zero();
  for (size_t k = 0; k < w.t.head_size; k += kLanes) total = fma(load(out + k), load(dout + k), total);
  return sum(total);
}

// One row of S becomes c keep W, one of dP becomes G; zeros up to the keys of the block.
template <bool kDrops>
void gradient_row(const Work& w, size_t query, size_t keys, float* s_S, float* dp_S) {
  size_t j = 0;
  if (has_gradient(w, query)) {
    const Allowed allowed = allowed_of(w.t, w.l.scores, query, w.scratch);
    uint16_t* kept = (uint16_t*)at(w.own(), w.l.scores.kept);
    if (kDrops) keep_bits(w.t.dropout, (uint32_t)position_of(w.t, query), allowed.keys, kept);
    const Vector scales = all(w.t.scale), lse = all(-w.task.lse[query]), rho = all(-rho_of(w, query));
    const Vector factor = all(w.task.scale), keep_scale = all(w.t.dropout.scale);
    for (; j < allowed.keys; j += kLanes) {
      const Mask mask = to_mask(allowed.at(j));
      const Vector p = select(mask, exp2_of(fma(load(s_S + j), scales, lse)), zero());
      const Vector dp = load(dp_S + j);
      Vector dropped = p, difference = add(dp, rho);
      if (kDrops) {
        const Vector keep = select(to_mask((uint64_t)kept[j / 16] >> (j % 16)), keep_scale, zero());
        dropped = multiply(p, keep);
        difference = fma(dp, keep, rho);
      }
      store(s_S + j, dropped);
      store(dp_S + j, select(mask, multiply(multiply(factor, p), difference), zero()));
    }
  }
  for (; j < keys; j += kLanes) {
    store(s_S + j, zero());
    store(dp_S + j, zero());
  }
}

// dV += (c keep W)^T dO, dK += G^T Q, dQ = G K: of the content alone.
void content_gradients(const Work& w, const Block& b) {
  const auto stride = static_cast<int64_t>(w.l.scores.s_stride);
  Sum dv = sum_of_rows(w, w.s(), 1, stride, b.keys, b.rows());
  dv.b = w.at(w.l.dout);
  dv.c = w.task.dv;
  dv.c_stride = w.task.dv_stride;
  add_sum(dv);
  Sum dk = sum_of_rows(w, w.at(w.l.dp), 1, stride, b.keys, b.rows());
  dk.b = w.at(w.l.q);
  dk.c = w.task.dk;
  dk.c_stride = w.task.dk_stride;
  add_sum(dk);
  Sum dq = sum_of_rows(w, w.at(w.l.dp), stride, 1, b.rows(), b.keys);
  dq.b = w.keys;
  dq.b_stride = w.keys_stride;
  dq.c = w.task.dq + b.begin * w.task.dq_stride;
  dq.c_stride = w.task.dq_stride;
  for (size_t i = 0; i < b.rows(); ++i) clear_floats(dq.c + i * dq.c_stride, w.t.head_size);
  add_long_sum(dq);
}

void add_block(const Work& w, const Block& b) {
  copy_queries(w, b);
  products_of_block(w, b);
  for (size_t i = b.begin; i < b.end; ++i) {
    const size_t row = (i - b.begin) * w.l.scores.s_stride;
    if (w.t.dropout.threshold > 0) {
      gradient_row<true>(w, i, b.keys, w.s() + row, w.at(w.l.dp) + row);
    } else {
      gradient_row<false>(w, i, b.keys, w.s() + row, w.at(w.l.dp) + row);
    }
  }
  content_gradients(w, b);
  if (w.t.kr != nullptr || w.t.qr != nullptr) relative_gradients(w, b);
}

void add_gradients(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch) {
  const Work w = prepare_gradients(task, extent, scratch);
  for (size_t begin = 0; begin < w.t.queries;) {
    const Block b = next_block(w.t, begin);
    add_block(w, b);
    begin = b.end;
  }
}

size_t gradient_bytes(const AttentionExtent& extent) {
  return gradient_layout_of(extent).size_bytes;
}

constexpr AttentionBackwardKernel kBackwardKernel = {.scratch_bytes = gradient_bytes, .add_gradients = add_gradients};

}  // namespace
}  // namespace deberta
