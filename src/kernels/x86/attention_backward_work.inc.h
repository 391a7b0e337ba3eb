// A block of queries of attention's gradient: its scratch, its scores, and from them the rows of c keep W and G, in
// fp32. Formats add the operands of their products (attention_backward_fp32, attention_backward_bf16).
#pragma once
#include "kernels/x86/attention_block.inc.h"
#include "kernels/x86/attention_sums.inc.h"

namespace deberta {
namespace {

// Offsets in bytes.
struct BlockLayout {
  Layout scores;  // forward layout; its shared part is at 0
  size_t own;     // its own part, S, begins here
  size_t vt, dp, dq, row_ends, key_ends, zeros, size_bytes;
};

// Room behind `end`, which moves.
inline size_t take_bytes(size_t& end, size_t size_bytes) {
  const size_t begin = end;
  end += round_up(size_bytes, 64);
  return begin;
}
inline size_t take_floats(size_t& end, size_t count) {
  return take_bytes(end, count * sizeof(float));
}

BlockLayout block_layout_of(const AttentionExtent& e) {
  BlockLayout l{};
  l.scores = layout_of(e);
  size_t end = 0;
  take_bytes(end, l.scores.shared_bytes);
  l.own = take_bytes(end, l.scores.own_bytes);
  l.vt = take_floats(end, e.head_size / kPack * l.scores.kt_stride);
  l.dp = take_floats(end, kBlock * l.scores.s_stride);
  l.dq = take_floats(end, kBlock * e.head_size);
  l.row_ends = take_floats(end, kBlock);
  l.key_ends = take_floats(end, l.scores.s_stride);
  l.zeros = take_floats(end, l.scores.s_stride);
  l.size_bytes = end;
  return l;
}

// A sequence and head with its scratch.
struct Work {
  const AttentionBackwardTask& task;
  const AttentionTask& t;
  BlockLayout l;
  void* scratch;

  float* at(size_t offset) const { return floats_at(scratch, offset); }
  void* own() const { return deberta::at(scratch, l.own); }
  float* s() const { return floats_at(own(), 0); }
  float* dp() const { return at(l.dp); }
};

// Queries [begin, end), whose positions ascend from `first` on and stay below first + kBlock.
struct Block {
  size_t begin, end;
  int64_t first;
  size_t keys;             // seen by any of its queries
  size_t positions;        // up to the last query
  int16_t row_of[kBlock];  // by position; -1 without a query

  size_t rows() const { return end - begin; }
};

inline Block next_block(const AttentionTask& t, size_t begin) {
  Block b{};
  b.begin = begin;
  b.end = begin + 1;
  b.first = position_of(t, begin);
  while (b.end < t.queries && position_of(t, b.end) > position_of(t, b.end - 1) &&
         position_of(t, b.end) < b.first + static_cast<int64_t>(kBlock))
    ++b.end;
  b.keys = keys_seen(t, b.end - 1);
  for (int16_t& row : b.row_of) row = -1;
  for (size_t i = b.begin; i < b.end; ++i) b.row_of[position_of(t, i) - b.first] = static_cast<int16_t>(i - b.begin);
  b.positions = static_cast<size_t>(position_of(t, b.end - 1) - b.first) + 1;
  return b;
}

inline size_t place_of(const Work& w, const Block& b, size_t query) {
  return static_cast<size_t>(position_of(w.t, query) - b.first);
}

inline void clear_floats(float* x, size_t count) {
  __builtin_memset(x, 0, count * sizeof(float));
}

inline void copy_floats(float* to, const float* from, size_t count) {
  __builtin_memcpy(to, from, count * sizeof(float));
}

// The row of S or dP at a position; zeros where there is no query.
inline const float* row_at(const Work& w, const Block& b, const float* rows, size_t position) {
  const int64_t row = b.row_of[position];
  return row < 0 ? w.at(w.l.zeros) : rows + row * static_cast<int64_t>(w.l.scores.s_stride);
}

inline bool has_gradient(const Work& w, size_t query) {  // a NaN has one
  return (w.t.query_mask == nullptr || w.t.query_mask[query] != 0) && !(w.task.lse[query] == -__builtin_inff());
}

// K^T, P2C and V^T. Rows of the keys' outputs begin as zeros.
void prepare_block_keys(const Work& w, const AttentionExtent& extent) {
  const AttentionTask& t = w.t;
  for (size_t j = 0; j < t.keys; j += kBlock) {
    const size_t end = j + kBlock < t.keys ? j + kBlock : t.keys;
    prepare_keys(t, extent, j, end, w.scratch, w.own());
    const Left v = left_of(t, t.v, t.v_stride, j, end, at(w.own(), w.l.scores.left));
    transpose_keys(v, end - j, t.head_size / kPack, w.at(w.l.vt) + j, w.l.scores.kt_stride);
  }
  for (size_t j = 0; j < t.keys; ++j) {
    clear_floats(w.task.dk + j * w.task.dk_stride, t.head_size);
    clear_floats(w.task.dv + j * w.task.dv_stride, t.head_size);
  }
  clear_floats(w.at(w.l.zeros), w.l.scores.s_stride);
}

// S and dP.
void products_of_block(const Work& w, const Block& b, const Left& q, const Left& dout) {
  relative_terms(w.t, w.l.scores, q, b.begin, b.end, b.keys, w.scratch, w.own());
  content_scores(w.t, w.l.scores, q, b.rows(), b.keys, w.scratch, w.own());
  Product p{};
  p.a = dout.data;
  p.a_stride = dout.stride;
  p.b = w.at(w.l.vt);
  p.b_stride = w.l.scores.kt_stride;
  p.rows = b.rows();
  p.columns = round_up(b.keys, kUnit);
  p.depth = w.t.head_size;
  p.c = w.dp();
  p.c_stride = w.l.scores.s_stride;
  product<false>(p);
}

inline Vector load_numbers(const float* from) {
  return load(from);
}
inline Vector load_numbers(const uint16_t* from) {
  return from_bf16(load_halves(from));
}

// dO_i . O_i, with the dO that dP is computed from: where W is 1, G is 0.
inline float rho_of(const Work& w, size_t query, const Number* dout) {
  const float* out = w.task.out + query * w.task.out_stride;
  Vector total = zero();
  for (size_t k = 0; k < w.t.head_size; k += kLanes) total = fma(load(out + k), load_numbers(dout + k), total);
  return sum(total);
}

// One row of S becomes c keep W, one of dP becomes G; zeros up to the keys of the block.
template <bool kDrops>
void gradient_row(const Work& w, size_t query, size_t keys, const Number* dout, float* s_S, float* dp_S) {
  size_t j = 0;
  if (has_gradient(w, query)) {
    const Allowed allowed = allowed_of(w.t, w.l.scores, query, w.scratch);
    uint16_t* kept = (uint16_t*)at(w.own(), w.l.scores.kept);
    if (kDrops) keep_bits(w.t.dropout, (uint32_t)position_of(w.t, query), allowed.keys, kept);
    const Vector scales = all(w.t.scale), lse = all(-w.task.lse[query]), rho = all(-rho_of(w, query, dout));
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

// S becomes c keep W, dP becomes G.
void gradient_rows(const Work& w, const Block& b, const Left& douts) {
  for (size_t i = b.begin; i < b.end; ++i) {
    const size_t row = (i - b.begin) * w.l.scores.s_stride;
    const Number* dout = douts.data + (i - b.begin) * douts.stride;
    if (w.t.dropout.threshold > 0) {
      gradient_row<true>(w, i, b.keys, dout, w.s() + row, w.dp() + row);
    } else {
      gradient_row<false>(w, i, b.keys, dout, w.s() + row, w.dp() + row);
    }
  }
}

}  // namespace
}  // namespace deberta
