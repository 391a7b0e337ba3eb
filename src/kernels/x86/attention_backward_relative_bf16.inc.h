// What the relative terms add to the gradient in bf16: products over pairs of distances, positions or keys (
// attention_backward_pairs). Pairs of G begin at even positions of the block, so where a sum runs down a diagonal, the
// rows of a tile are of one parity. Included by attention_backward_bf16.inc.h.
#include "kernels/x86/attention_backward_ends_bf16.inc.h"

namespace deberta {
namespace {

constexpr int64_t kRows = static_cast<int64_t>(kTileRows);

inline int64_t is_odd(int64_t x) {
  return x & 1;
}
// Pairs that hold the range, of which the first begins `before` its begin.
inline size_t pairs_of(const Range& r, int64_t before) {
  return static_cast<size_t>((r.end - r.begin + before + 1) / 2);
}

// dQ_i += G[i][i-t] Kr[row(t)], by position; pairs (t+1, t).
void c2p_queries(const PairWork& w, const Block& b) {
  for (size_t i = 0; i < b.positions; i += kTileRows) {
    const size_t rows = b.positions - i < kTileRows ? b.positions - i : kTileRows;
    const int64_t position = b.first + static_cast<int64_t>(i), keys = static_cast<int64_t>(b.keys);
    const Range t = common(w.inner, {position - keys + 1, position + static_cast<int64_t>(rows)});
    if (size_of(t) == 0) continue;
    const int64_t before = is_odd(t.begin - w.inner.begin), first = t.begin - before;
    const uint16_t* a = w.gb() + static_cast<int64_t>(i) * w.stride() + (position - first - 1);
    PairSum s = sum_of_rows<Bf16Pairs>(a, w.stride() + 1, -2, rows, pairs_of(t, before), w.t.head_size);
    s.b = w.at(w.p.kr_pairs) + (first - w.inner.begin) / 2 * static_cast<int64_t>(w.t.head_size);
    s.c = w.at(w.l.dq) + i * w.t.head_size;
    add_sum(s);
  }
}

// dK_j += G[j+t][j] Qr[row(t)]: keys j, j+2, ...
void p2c_keys(const PairWork& w, const Block& b) {
  const auto positions = static_cast<int64_t>(b.positions);
  for (size_t n = 0; n < b.keys; n += 2 * kTileRows) {
    for (size_t j = n; j < n + 2 && j < b.keys; ++j) {
      const size_t left = (b.keys - j + 1) / 2, rows = left < kTileRows ? left : kTileRows;
      const int64_t distance = b.first - static_cast<int64_t>(j);  // distance of the first position
      const Range t = common(w.inner, {distance - 2 * (static_cast<int64_t>(rows) - 1), distance + positions});
      if (size_of(t) == 0) continue;
      const int64_t before = is_odd(t.begin - distance), first = t.begin - before;
      const bool is_odd_table = is_odd(first - w.inner.begin) != 0;
      const float* a = w.g2() + (first - distance) / 2 * w.stride() + static_cast<int64_t>(j);
      PairSum s = sum_of_lanes(w, a, w.stride() + 2, w.stride(), rows, pairs_of(t, before));
      s.b = w.at(is_odd_table ? w.p.qr_odd : w.p.qr_even) +
            (first - w.inner.begin + is_odd_table) / 2 * static_cast<int64_t>(w.t.head_size);
      s.c = w.task.dk + j * w.task.dk_stride;
      s.c_stride = 2 * w.task.dk_stride;
      add_sum(s);
    }
  }
}

// dKr[row(t)] += G[i][i-t] q_i
void c2p_table(const PairWork& w, const Block& b, const Range& all) {
  const auto keys = static_cast<int64_t>(b.keys), positions = static_cast<int64_t>(b.positions);
  for (int64_t t = all.begin; t < all.end; t += kRows) {
    const int64_t rows = all.end - t < kRows ? all.end - t : kRows;
    const Range i = common({0, positions}, {t - b.first, keys - b.first + t + rows - 1});
    const int64_t before = is_odd(i.begin), first = i.begin - before;
    const float* a = w.gd() + first / 2 * w.stride() + (b.first + first - t);
    PairSum s = sum_of_lanes(w, a, -1, w.stride() + 2, static_cast<size_t>(rows), pairs_of(i, before));
    s.b = w.at(w.p.q_pairs) + first / 2 * static_cast<int64_t>(w.t.head_size);
    s.c = w.task.dkr;
    s.c_rows = w.t.distances.row + t;
    add_sum(s);
  }
}

// dQr[row(t)] += G[j+t][j] k_j: distances t, t+2, ...
void p2c_table(const PairWork& w, const Block& b, const Range& all) {
  const auto keys = static_cast<int64_t>(b.keys), positions = static_cast<int64_t>(b.positions);
  for (int64_t n = all.begin; n < all.end; n += 2 * kRows) {
    for (int64_t t = n; t < n + 2 && t < all.end; ++t) {
      const int64_t left = (all.end - t + 1) / 2, rows = left < kRows ? left : kRows;
      const Range j = common({0, keys}, {b.first - (t + 2 * (rows - 1)), b.first + positions - t});
      const int64_t before = is_odd(j.begin + t - b.first), first = j.begin - before;
      const float* a = w.gd() + (first + t - b.first) / 2 * w.stride() + first;
      PairSum s = sum_of_lanes(w, a, w.stride(), w.stride() + 2, static_cast<size_t>(rows), pairs_of(j, before));
      s.b = w.at(is_odd(first) != 0 ? w.p.k_odd : w.p.k_even) +
            (first + is_odd(first)) / 2 * static_cast<int64_t>(w.t.head_size);
      s.c = w.task.dqr;
      s.c_rows = w.t.distances.row + t;
      s.c_step = 2;
      add_sum(s);
    }
  }
}

void relative_gradients(const PairWork& w, const Block& b) {
  const auto keys = static_cast<int64_t>(b.keys), positions = static_cast<int64_t>(b.positions);
  const Range all = common(w.inner, {b.first - keys + 1, b.first + positions});
  if (w.t.kr != nullptr) {
    c2p_queries(w, b);
    c2p_table(w, b, all);
  }
  if (w.t.qr != nullptr) {
    p2c_keys(w, b);
    p2c_table(w, b, all);
  }
  end_gradients(w, b, true);
  end_gradients(w, b, false);
}

}  // namespace
}  // namespace deberta
