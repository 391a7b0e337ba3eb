// The scratch of attention's gradient and the blocks of its queries. Included by attention_backward.inc.h.
#pragma once
#include "kernels/x86/attention_block.inc.h"
#include "kernels/x86/attention_sums.inc.h"

namespace deberta {
namespace {

constexpr size_t kRowEdge = kTileRows - 1;  // rows of zeros before and after G: a skewed tile reads them
constexpr size_t kColumnEdge = kUnit;       // columns on both sides

// Offsets in bytes.
struct GradientLayout {
  Layout scores;  // its shared part is at 0
  size_t own;     // its own part: S
  size_t vt, dp, keys, g, dq, row_ends, key_ends, size_bytes;
  size_t q, placed_q, dout;  // queries of a block, zeros where there is none
  size_t g_stride;
};

GradientLayout gradient_layout_of(const AttentionExtent& e) {
  GradientLayout l{};
  l.scores = layout_of(e);
  l.g_stride = l.scores.keys + 2 * kColumnEdge;
  size_t end = 0;
  const auto take = [&end](size_t size_bytes) {
    const size_t begin = end;
    end += round_up(size_bytes, 64);
    return begin;
  };
  const auto floats = [&take](size_t count) { return take(count * sizeof(float)); };
  take(l.scores.shared_bytes);
  l.own = take(l.scores.own_bytes);
  l.vt = floats(e.head_size * l.scores.kt_stride);
  l.dp = floats(kBlock * l.scores.s_stride);
  l.keys = floats(l.scores.keys * e.head_size);
  l.g = floats((kBlock + 2 * kRowEdge) * l.g_stride);
  l.dq = floats(kBlock * e.head_size);
  l.row_ends = floats(kBlock);
  l.key_ends = floats(l.scores.s_stride);
  l.q = floats(kBlock * e.head_size);
  l.placed_q = floats(kBlock * e.head_size);
  l.dout = floats(kBlock * e.head_size);
  l.size_bytes = end;
  return l;
}

// A sequence and head with its scratch.
struct Work {
  const AttentionBackwardTask& task;
  const AttentionTask& t;
  GradientLayout l;
  void* scratch;
  const float* keys;  // without masked ones
  size_t keys_stride;

  float* at(size_t offset) const { return floats_at(scratch, offset); }
  void* own() const { return deberta::at(scratch, l.own); }
  float* s() const { return floats_at(own(), 0); }
  // Row 0, column 0 of G: the first position of a block, the first key.
  float* g() const { return at(l.g) + kRowEdge * l.g_stride + kColumnEdge; }
  int64_t g_stride() const { return static_cast<int64_t>(l.g_stride); }
};

// Queries [begin, end), whose positions ascend from `first` on and stay below first + kBlock.
struct Block {
  size_t begin, end;
  int64_t first;
  size_t keys;  // seen by any of its queries

  size_t rows() const { return end - begin; }
};

inline Block next_block(const AttentionTask& t, size_t begin) {
  Block b{begin, begin + 1, position_of(t, begin), 0};
  while (b.end < t.queries && position_of(t, b.end) > position_of(t, b.end - 1) &&
         position_of(t, b.end) < b.first + static_cast<int64_t>(kBlock))
    ++b.end;
  b.keys = keys_seen(t, b.end - 1);
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

// c[rows] += a[rows][depth] times b, a as Sum reads it.
Sum sum_of_rows(const Work& w, const float* a, int64_t a_row, int64_t a_step, size_t rows, size_t depth) {
  Sum s{};
  s.a = a;
  s.a_row = a_row;
  s.a_step = a_step;
  s.rows = rows;
  s.depth = depth;
  s.columns = w.t.head_size;
  s.b_stride = s.c_stride = w.t.head_size;
  return s;
}

}  // namespace
}  // namespace deberta
