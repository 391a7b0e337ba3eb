// The gradient of attention of one sequence and one head, without gathers and without an L x L buffer:
//   K^T, P2C as for attention; V^T
//   for each block of queries:
//     S, as attention has it;  W = 2^(scale S - lse);  dP = dO V^T
//     S becomes c keep W, dP becomes G
//     dV += (c keep W)^T dO;  dQ = G K;  dK += G^T Q
//     dQ_i += G[i][i-t] Kr[row(t)], dKr[row(t)] += G[i][i-t] Q_i;  the same for p2c
// over all distances t: G is copied between zeros, so that a skew of it is a matter of strides, and rows of the tables
// are looked up, not copied. Beyond the last rows of the tables (t_lo, t_hi), entries of G are summed first. Queries
// are placed by position for this: a query that was not asked for is a row of zeros. Each sum over queries is a chain
// for each block, each sum over keys one for each kDepth. Memory is linear in the length. Included by
// attention_backward_<format>_<isa>.cpp after the operands (attention_fp32) and products.
#include "kernels/x86/attention_backward_work.inc.h"

namespace deberta {
namespace {

constexpr size_t kRowEdge = kTileRows - 1;  // rows of zeros before and after G: a skewed tile reads them
constexpr size_t kColumnEdge = kUnit;       // columns on both sides

// Offsets in bytes, behind those of the block.
struct Fp32Layout {
  size_t keys, g;
  size_t q, placed_q, dout;  // queries of a block, zeros where there is none
  size_t g_stride, size_bytes;
};

Fp32Layout fp32_layout_of(const AttentionExtent& e) {
  const BlockLayout block = block_layout_of(e);
  Fp32Layout l{};
  l.g_stride = block.scores.keys + 2 * kColumnEdge;
  size_t end = block.size_bytes;
  l.keys = take_floats(end, block.scores.keys * e.head_size);
  l.g = take_floats(end, (kBlock + 2 * kRowEdge) * l.g_stride);
  l.q = take_floats(end, kBlock * e.head_size);
  l.placed_q = take_floats(end, kBlock * e.head_size);
  l.dout = take_floats(end, kBlock * e.head_size);
  l.size_bytes = end;
  return l;
}

struct Fp32Work : Work {
  Fp32Layout f;
  const float* keys;  // without masked ones
  size_t keys_stride;

  // Row 0, column 0 of G: the first position of a block, the first key.
  float* g() const { return at(f.g) + kRowEdge * f.g_stride + kColumnEdge; }
  int64_t g_stride() const { return static_cast<int64_t>(f.g_stride); }
};

using Sum = SumOf<Fp32>;
inline Sum sum_of_rows(const Work& w, const float* a, int64_t a_row, int64_t a_step, size_t rows, size_t depth) {
  return sum_of_rows<Fp32>(a, a_row, a_step, rows, depth, w.t.head_size);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_backward_relative_fp32.inc.h"

namespace deberta {
namespace {

// Masked keys, which may hold anything, become rows of zeros.
Fp32Work prepare_gradients(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch) {
  const AttentionTask& t = task.forward;
  Fp32Work w{{task, t, block_layout_of(extent), scratch}, fp32_layout_of(extent), (const float*)t.k, t.k_stride};
  prepare_block_keys(w, extent);
  clear_floats(w.at(w.f.g), (kBlock + 2 * kRowEdge) * w.f.g_stride);
  if (t.key_mask == nullptr && !t.is_bf16) return w;
  const size_t size = t.head_size;
  for (size_t j = 0; j < t.keys; ++j) {
    float* to = w.at(w.f.keys) + j * size;
    clear_floats(to, size);
    if (t.key_mask != nullptr && t.key_mask[j] == 0) continue;
    const Left k = left_of(t, t.k, t.k_stride, j, j + 1, to);
    if (k.data != to) copy_floats(to, k.data, size);
  }
  w.keys = w.at(w.f.keys);
  w.keys_stride = size;
  return w;
}

// q, by row and by position, and dO, by row; zeros for queries without a gradient, which may hold anything.
void copy_queries(const Fp32Work& w, const Block& b, const Left& queries) {
  const size_t size = w.t.head_size;
  clear_floats(w.at(w.f.q), kBlock * size);
  clear_floats(w.at(w.f.placed_q), kBlock * size);
  clear_floats(w.at(w.f.dout), kBlock * size);
  for (size_t i = b.begin; i < b.end; ++i) {
    if (!has_gradient(w, i)) continue;
    const float* q = queries.data + (i - b.begin) * queries.stride;
    copy_floats(w.at(w.f.q) + (i - b.begin) * size, q, size);
    copy_floats(w.at(w.f.placed_q) + place_of(w, b, i) * size, q, size);
    copy_floats(w.at(w.f.dout) + (i - b.begin) * size, w.task.dout + i * w.task.dout_stride, size);
  }
}

// dV += (c keep W)^T dO, dK += G^T Q, dQ = G K: the content terms alone.
void content_gradients(const Fp32Work& w, const Block& b) {
  const auto stride = static_cast<int64_t>(w.l.scores.s_stride);
  Sum dv = sum_of_rows(w, w.s(), 1, stride, b.keys, b.rows());
  dv.b = w.at(w.f.dout);
  dv.c = w.task.dv;
  dv.c_stride = w.task.dv_stride;
  add_sum(dv);
  Sum dk = sum_of_rows(w, w.dp(), 1, stride, b.keys, b.rows());
  dk.b = w.at(w.f.q);
  dk.c = w.task.dk;
  dk.c_stride = w.task.dk_stride;
  add_sum(dk);
  Sum dq = sum_of_rows(w, w.dp(), stride, 1, b.rows(), b.keys);
  dq.b = w.keys;
  dq.b_stride = w.keys_stride;
  dq.c = w.task.dq + b.begin * w.task.dq_stride;
  dq.c_stride = w.task.dq_stride;
  for (size_t i = 0; i < b.rows(); ++i) clear_floats(dq.c + i * dq.c_stride, w.t.head_size);
  add_long_sum(dq);
}

void add_block(const Fp32Work& w, const Block& b) {
  const Left q = left_of(w.t, w.t.q, w.t.q_stride, b.begin, b.end, at(w.own(), w.l.scores.left));
  copy_queries(w, b, q);
  const Left dout{w.at(w.f.dout), w.t.head_size};
  products_of_block(w, b, q, dout);
  gradient_rows(w, b, dout);
  content_gradients(w, b);
  if (w.t.kr != nullptr || w.t.qr != nullptr) relative_gradients(w, b);
}

void add_gradients(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch) {
  const Fp32Work w = prepare_gradients(task, extent, scratch);
  for (size_t begin = 0; begin < w.t.queries;) {
    const Block b = next_block(w.t, begin);
    add_block(w, b);
    begin = b.end;
  }
}

size_t gradient_bytes(const AttentionExtent& extent) {
  return fp32_layout_of(extent).size_bytes;
}

constexpr AttentionBackwardKernel kBackwardKernel = {.scratch_bytes = gradient_bytes, .add_gradients = add_gradients};

}  // namespace
}  // namespace deberta
