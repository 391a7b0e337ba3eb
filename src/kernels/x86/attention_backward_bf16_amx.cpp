// The gradient of attention in bf16 with AMX: a tile of 16 rows against up to four of columns, a depth of 32 a step.
// Only intrinsics, C headers and types here (docs/concepts/kernels.md). Block by block of queries as with AVX512_BF16
// (attention_backward_bf16.inc.h); a skew is a tile whose rows begin a number later than the one before.
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_backward_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {
constexpr size_t kTileVectors = 4;
constexpr size_t kBlock = 64;  // queries or keys
constexpr size_t kDepth = 512;
constexpr size_t kColumnEdges = 80, kPairEdge = 16, kPositionUnit = kBlock;
}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_amx_tile.inc.h"
#include "kernels/x86/register_tile.inc.h"
#include "kernels/x86/register_tile_bf16.inc.h"
// The rest builds on the operands and their products.
#include "kernels/x86/attention_backward_tiles.inc.h"

namespace deberta {
namespace {

// One term of a sum: 16 rows of a, `steps` times 32 numbers of each, times rows of pairs.
struct Term {
  const uint16_t* a;
  int64_t a_stride;  // numbers
  const float* b;
  int64_t b_stride;  // lanes; below 0: the pairs descend
  int64_t steps;
};

// Tiles 0 .. kColumns - 1 += a term's columns from n on.
template <size_t kColumns>
inline void add_term(const Term& term, size_t n) {
  const int64_t a_stride = term.a_stride * 2, b_stride = term.b_stride * 4;
  const uint16_t* a = term.a;
  const float* b = term.b + n;
  for (int64_t step = 0; step < term.steps; ++step, a += 32, b += kTile * term.b_stride) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(5, b, b_stride);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(6, b + 16, b_stride);
    _tile_dpbf16ps(1, 4, 6);
    if constexpr (kColumns == 4) {
      _tile_loadd(7, b + 32, b_stride);
      _tile_dpbf16ps(2, 4, 7);
      _tile_loadd(5, b + 48, b_stride);
      _tile_dpbf16ps(3, 4, 5);
    }
  }
}

template <size_t kColumns>
inline void add_columns(const Term* terms, size_t count, bool adds, float* c, int64_t c_stride, size_t n) {
  const int64_t stride = c_stride * 4;
  if (adds) {
    _tile_loadd(0, c + n, stride);
    _tile_loadd(1, c + n + 16, stride);
    if constexpr (kColumns == 4) {
      _tile_loadd(2, c + n + 32, stride);
      _tile_loadd(3, c + n + 48, stride);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kColumns == 4) {
      _tile_zero(2);
      _tile_zero(3);
    }
  }
  for (size_t term = 0; term < count; ++term) add_term<kColumns>(terms[term], n);
  _tile_stored(0, c + n, stride);
  _tile_stored(1, c + n + 16, stride);
  if constexpr (kColumns == 4) {
    _tile_stored(2, c + n + 32, stride);
    _tile_stored(3, c + n + 48, stride);
  }
}

// 16 rows of c, a head wide, become the sum of the terms, or += it.
void sum_terms(const TileWork& w, const Term* terms, size_t count, bool adds, float* c) {
  const size_t size = w.t.head_size;
  size_t n = 0;
  for (; n + 64 <= size; n += 64) add_columns<4>(terms, count, adds, c, static_cast<int64_t>(size), n);
  if (n < size) add_columns<2>(terms, count, adds, c, static_cast<int64_t>(size), n);
}

inline int64_t steps_of(int64_t numbers) {
  return (numbers + 31) / 32;
}

// The steps of a term that meet `range`, which begins at `begin` and takes one number of each: what is before and
// behind is skipped by whole steps.
inline Range steps_in(const Range& range, int64_t begin) {
  return {(range.begin - begin) / 32, steps_of(range.end - begin)};
}

// Rows of pairs from number n on, taken from the pairs that begin with even numbers or from those with odd ones.
inline const float* pairs_from(const TileWork& w, size_t even, size_t odd, int64_t n) {
  const auto size = static_cast<int64_t>(w.t.head_size);
  return (n & 1) != 0 ? w.at(odd) + (n + 1) / 2 * size : w.at(even) + n / 2 * size;
}

// What G^T Qr adds to dK of 16 keys, j and on:  A[r][d] = G[j+r+t][j+r] for t = first - j - 15 + d, so row r begins at
// the position r - 15 of the block.
Term p2c_keys(const TileWork& w, const Block& b, int64_t j) {
  const auto size = static_cast<int64_t>(w.t.head_size);
  const int64_t begin = b.first - j - (kTile - 1);
  const Range t = common(w.inner, {begin, b.first - j + static_cast<int64_t>(kBlock)});
  if (size_of(t) == 0) return {};
  const Range steps = steps_in(t, begin);
  const uint16_t* a = w.turned(w.tiles.gt) + j * static_cast<int64_t>(kTurned) - (kTile - 1) + 32 * steps.begin;
  return {a, kTurned + 1, pairs_from(w, w.p.qr_even, w.p.qr_odd, begin + 32 * steps.begin - w.inner.begin), size,
          steps.end - steps.begin};
}

// dV += (c keep W)^T dO, dK += G^T Q and the relative term of the keys.
void key_gradients(const TileWork& w, const Block& b) {
  const auto size = static_cast<int64_t>(w.t.head_size), positions = static_cast<int64_t>(b.positions);
  for (size_t j = 0; j < b.keys; j += kTile) {
    const Term dv = {w.turned(w.tiles.pt) + j * kTurned, kTurned, w.at(w.p.dout_pairs), size, steps_of(positions)};
    sum_terms(w, &dv, 1, true, w.task.dv + j * w.t.head_size);
    Term dk[2] = {{w.turned(w.tiles.gt) + j * kTurned, kTurned, w.at(w.p.q_pairs), size, steps_of(positions)}, {}};
    if (w.t.qr != nullptr) dk[1] = p2c_keys(w, b, static_cast<int64_t>(j));
    sum_terms(w, dk, 2, true, w.task.dk + j * w.t.head_size);
  }
}

// What G Kr adds to dQ of 16 positions, i and on:  A[r][d] = G[i+r][i+r-t] for t = top - d; pairs of the table are
// (t, t - 1).
Term c2p_queries(const TileWork& w, const Block& b, int64_t i) {
  const auto size = static_cast<int64_t>(w.t.head_size);
  const int64_t position = b.first + i, keys = static_cast<int64_t>(b.keys);
  const Range t = common(w.inner, {position - keys + 1, position + kTile});
  if (size_of(t) == 0) return {};
  const int64_t top = t.end - 1 + ((t.end - w.inner.begin) & 1);  // an odd number from the first
  const uint16_t* a = w.gb() + i * w.stride() + (position - top);
  return {a, w.stride() + 1, w.at(w.p.kr_pairs) + (top - w.inner.begin - 1) / 2 * size, -size,
          steps_of(top - t.begin + 1)};
}

// dQ, by position.
void query_gradients(const TileWork& w, const Block& b) {
  const auto size = static_cast<int64_t>(w.t.head_size);
  for (size_t i = 0; i < b.positions; i += kTile) {
    Term dq[2] = {{w.gb() + i * w.p.stride, w.stride(), w.at(w.p.k_even), size, steps_of(static_cast<int64_t>(b.keys))},
                  {}};
    if (w.t.kr != nullptr) dq[1] = c2p_queries(w, b, static_cast<int64_t>(i));
    sum_terms(w, dq, 2, false, w.at(w.l.dq) + i * w.t.head_size);
  }
}

// to[row(t)] += the rows of the distances t ..
void add_to_table(const TileWork& w, const Range& inner, int64_t t, float* to) {
  const size_t size = w.t.head_size;
  const Range some = common(inner, {t, t + kTile});
  for (int64_t distance = some.begin; distance < some.end; ++distance) {
    const float* from = w.at(w.tiles.sums) + static_cast<size_t>(distance - t) * size;
    float* row = to + static_cast<size_t>(w.t.distances.row[distance]) * size;
    for (size_t k = 0; k < size; k += kLanes) store(row + k, add(load(row + k), load(from + k)));
  }
}

// dKr[row(t)] += G[i][i-t] q_i and dQr[row(t)] += G[j+t][j] k_j, 16 distances at a time. For the keys, A[r][d] is
// G[j+t+r][j] for j = first - t - 15 + d, so row r of D begins at the position r - 15 of the block.
void table_gradients(const TileWork& w, const Block& b) {
  const auto size = static_cast<int64_t>(w.t.head_size), stride = static_cast<int64_t>(kTurned);
  const int64_t first = first_distance(b), keys = static_cast<int64_t>(b.keys);
  const Range inner = common(w.inner, {b.first - keys + 1, b.first + static_cast<int64_t>(kBlock)});
  for (int64_t u = 0; u < static_cast<int64_t>(rows_of_distances(b.keys)); u += kTile) {
    const int64_t t = first + u, key = b.first - t - (kTile - 1);
    if (size_of(common(inner, {t, t + kTile})) == 0) continue;
    const uint16_t* d = w.turned(w.tiles.d) + u * stride;
    if (w.t.kr != nullptr) {
      const Term of_queries = {d, stride, w.at(w.p.q_pairs), size, static_cast<int64_t>(kBlock) / 32};
      sum_terms(w, &of_queries, 1, false, w.at(w.tiles.sums));
      add_to_table(w, inner, t, w.task.dkr);
    }
    if (w.t.qr != nullptr) {
      const Range steps = steps_in(common({0, keys}, {key, key + 3 * 32}), key);
      const Term of_keys = {d - (kTile - 1) + 32 * steps.begin, stride + 1,
                            pairs_from(w, w.p.k_even, w.p.k_odd, key + 32 * steps.begin), size,
                            steps.end - steps.begin};
      sum_terms(w, &of_keys, 1, false, w.at(w.tiles.sums));
      add_to_table(w, inner, t, w.task.dqr);
    }
  }
}

void add_block(const TileWork& w, const Block& b) {
  pair_block(w, b);
  turn_keys(w, b, w.p2(), w.turned(w.tiles.pt));
  turn_keys(w, b, w.g2(), w.turned(w.tiles.gt));
  key_gradients(w, b);
  query_gradients(w, b);
  if (w.t.kr != nullptr || w.t.qr != nullptr) {
    turn_distances(w, b);
    table_gradients(w, b);
    end_gradients(w, b, true);
    end_gradients(w, b, false);
  }
  store_queries(w, b);
}

// Turned rows become zeros, edges too: a block writes the rows that it has.
void clear_turned(const TileWork& w) {
  const size_t keys = round_up(w.t.keys, kTile);
  const auto clear = [&](size_t offset, size_t rows) {
    __builtin_memset(w.at(offset), 0, rows * kTurned * sizeof(uint16_t));
  };
  clear(w.tiles.pt, keys);
  clear(w.tiles.gt, keys);
  if (w.t.kr != nullptr || w.t.qr != nullptr) clear(w.tiles.d, rows_of_distances(w.t.keys));
}

void add_gradients(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch) {
  const TileLayout tiles = tile_layout_of(extent);
  AttentionBackwardTask dense = task;
  dense.dk = floats_at(scratch, tiles.dk);
  dense.dv = floats_at(scratch, tiles.dv);
  dense.dk_stride = dense.dv_stride = task.forward.head_size;
  const TileWork w{prepare_pairs(dense, extent, scratch), tiles};
  clear_turned(w);
  begin_products();
  for (size_t begin = 0; begin < w.t.queries;) {
    const Block b = next_block(w.t, begin);
    add_block(w, b);
    begin = b.end;
  }
  end_products();
  for (size_t j = 0; j < w.t.keys; ++j) {
    copy_floats(task.dk + j * task.dk_stride, dense.dk + j * w.t.head_size, w.t.head_size);
    copy_floats(task.dv + j * task.dv_stride, dense.dv + j * w.t.head_size, w.t.head_size);
  }
}

size_t gradient_bytes(const AttentionExtent& extent) {
  return tile_layout_of(extent).size_bytes;
}

constexpr AttentionBackwardKernel kBackwardKernel = {.scratch_bytes = gradient_bytes, .add_gradients = add_gradients};

}  // namespace

const AttentionBackwardKernel& attention_backward_bf16_amx_kernel() {
  return kBackwardKernel;
}
}  // namespace deberta
