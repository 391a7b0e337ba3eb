// What the relative terms add to the gradient, block by block, from G = [positions][keys] between zeros. Products are
// taken over distances, of which each has a table row; those beyond the last rows (t_lo, t_hi) are summed first.
// Included by attention_backward.inc.h.
#include "kernels/x86/attention_backward_work.inc.h"

namespace deberta {
namespace {

// Rows of G by position.
void place_gradients(const Work& w, const Block& b) {
  for (size_t row = 0; row < kBlock; ++row) clear_floats(w.g() + row * w.l.g_stride, b.keys);
  for (size_t i = b.begin; i < b.end; ++i) {
    const float* from = w.at(w.l.dp) + (i - b.begin) * w.l.scores.s_stride;
    copy_floats(w.g() + place_of(w, b, i) * w.l.g_stride, from, b.keys);
  }
}

struct Range {
  int64_t begin, end;
};
inline Range common(const Range& a, const Range& b) {
  const int64_t begin = a.begin > b.begin ? a.begin : b.begin, end = a.end < b.end ? a.end : b.end;
  return {begin, end > begin ? end : begin};
}
inline size_t size_of(const Range& r) {
  return static_cast<size_t>(r.end - r.begin);
}

// Distances that share their table row with few others, and exist.
inline Range inner_distances(const AttentionTask& t) {
  const int64_t begin = t.distances.t_lo + 1;
  return {t.is_causal && begin < 0 ? 0 : begin, t.distances.t_hi};
}

constexpr int64_t kPositions = static_cast<int64_t>(kBlock);

// dQ_i += G[i][i-t] Kr[row(t)], by position.
void c2p_queries(const Work& w, const Block& b) {
  for (size_t i = 0; i < kBlock; i += kTileRows) {
    const int64_t position = b.first + static_cast<int64_t>(i), keys = static_cast<int64_t>(b.keys);
    const auto rows = static_cast<int64_t>(kTileRows);
    const Range t = common(inner_distances(w.t), {position - keys + 1, position + rows});
    if (size_of(t) == 0) continue;
    const float* a = w.g() + static_cast<int64_t>(i) * w.g_stride() + (position - t.begin);
    Sum s = sum_of_rows(w, a, w.g_stride() + 1, -1, kTileRows, size_of(t));
    s.b = w.task.kr;
    s.b_stride = w.task.kr_stride;
    s.b_rows = w.t.distances.row + t.begin;
    s.c = w.at(w.l.dq) + i * w.t.head_size;
    add_sum(s);
  }
}

// dK_j += G[j+t][j] Qr[row(t)]
void p2c_keys(const Work& w, const Block& b) {
  for (size_t j = 0; j < b.keys; j += kTileRows) {
    const size_t rows = b.keys - j < kTileRows ? b.keys - j : kTileRows;
    const int64_t distance = b.first - static_cast<int64_t>(j);  // of the first position
    const Range t = common(inner_distances(w.t), {distance - static_cast<int64_t>(rows) + 1, distance + kPositions});
    if (size_of(t) == 0) continue;
    const float* a = w.g() + (t.begin - distance) * w.g_stride() + static_cast<int64_t>(j);
    Sum s = sum_of_rows(w, a, w.g_stride() + 1, w.g_stride(), rows, size_of(t));
    s.b = w.task.qr;
    s.b_stride = w.task.qr_stride;
    s.b_rows = w.t.distances.row + t.begin;
    s.c = w.task.dk + j * w.task.dk_stride;
    s.c_stride = w.task.dk_stride;
    add_sum(s);
  }
}

// dKr[row(t)] += G[i][i-t] q_i and dQr[row(t)] += G[j+t][j] k_j
void table_gradients(const Work& w, const Block& b) {
  const auto keys = static_cast<int64_t>(b.keys);
  const Range all = common(inner_distances(w.t), {b.first - keys + 1, b.first + kPositions});
  for (int64_t t = all.begin; t < all.end; t += static_cast<int64_t>(kTileRows)) {
    const int64_t rows = all.end - t < static_cast<int64_t>(kTileRows) ? all.end - t : static_cast<int64_t>(kTileRows);
    if (w.t.kr != nullptr) {
      const Range i = common({0, kPositions}, {t - b.first, keys - b.first + t + rows - 1});
      const float* a = w.g() + i.begin * w.g_stride() + (b.first + i.begin - t);
      Sum s = sum_of_rows(w, a, -1, w.g_stride() + 1, static_cast<size_t>(rows), size_of(i));
      s.b = w.at(w.l.placed_q) + static_cast<size_t>(i.begin) * w.t.head_size;
      s.c = w.task.dkr;
      s.c_rows = w.t.distances.row + t;
      add_sum(s);
    }
    if (w.t.qr != nullptr) {
      const Range j = common({0, keys}, {b.first - (t + rows - 1), b.first + kPositions - t});
      const float* a = w.g() + (j.begin + t - b.first) * w.g_stride() + j.begin;
      Sum s = sum_of_rows(w, a, w.g_stride(), w.g_stride() + 1, static_cast<size_t>(rows), size_of(j));
      s.b = w.keys + static_cast<size_t>(j.begin) * w.keys_stride;
      s.b_stride = w.keys_stride;
      s.c = w.task.dqr;
      s.c_rows = w.t.distances.row + t;
      add_sum(s);
    }
  }
}

// Keys whose distance from the position has the row of the last distance at one end.
inline Range keys_at_end(const Work& w, const Block& b, int64_t position, bool is_high) {
  const Range keys{0, static_cast<int64_t>(b.keys)};
  const AttentionDistances& d = w.t.distances;
  return is_high ? common(keys, {0, position - d.t_hi + 1}) : common(keys, {position - d.t_lo, keys.end});
}

// Sums of G over these keys, for each position, and over the positions, for each key. G ends with zeros, so
// a vector may begin anywhere.
void sum_ends(const Work& w, const Block& b, bool is_high, float* row_ends, float* key_ends) {
  clear_floats(key_ends, w.l.scores.s_stride);
  for (size_t i = 0; i < kBlock; ++i) {
    const Range keys = keys_at_end(w, b, b.first + static_cast<int64_t>(i), is_high);
    const float* g_S = w.g() + i * w.l.g_stride;
    Vector total = zero();
    for (int64_t j = keys.begin; j < keys.end; j += static_cast<int64_t>(kLanes)) {
      const int64_t left = keys.end - j;
      const uint64_t bits = left >= static_cast<int64_t>(kLanes) ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
      const Vector g = select(to_mask(bits), load(g_S + j), zero());
      total = add(total, g);
      store(key_ends + j, add(load(key_ends + j), g));
    }
    row_ends[i] = sum(total);
  }
}

// The distances that share the last row at one end: one number for each position and each key.
void end_gradients(const Work& w, const Block& b, bool is_high) {
  const int64_t nearest = is_high ? b.first + kPositions - 1 : b.first - static_cast<int64_t>(b.keys) + 1;
  const AttentionDistances& d = w.t.distances;
  if (is_high ? nearest < d.t_hi : nearest > d.t_lo) return;
  float* row_ends = w.at(w.l.row_ends);
  float* key_ends = w.at(w.l.key_ends);
  sum_ends(w, b, is_high, row_ends, key_ends);
  const auto row = static_cast<size_t>(d.row[is_high ? d.t_hi : d.t_lo]);
  if (w.t.kr != nullptr) {
    Sum dq = sum_of_rows(w, row_ends, 1, 0, kBlock, 1);
    dq.b = w.task.kr + row * w.task.kr_stride;
    dq.c = w.at(w.l.dq);
    add_sum(dq);
    Sum dkr = sum_of_rows(w, row_ends, 0, 1, 1, kBlock);
    dkr.b = w.at(w.l.placed_q);
    dkr.c = w.task.dkr + row * w.t.head_size;
    add_sum(dkr);
  }
  if (w.t.qr != nullptr) {
    Sum dk = sum_of_rows(w, key_ends, 1, 0, b.keys, 1);
    dk.b = w.task.qr + row * w.task.qr_stride;
    dk.c = w.task.dk;
    dk.c_stride = w.task.dk_stride;
    add_sum(dk);
    Sum dqr = sum_of_rows(w, key_ends, 0, 1, 1, b.keys);
    dqr.b = w.keys;
    dqr.b_stride = w.keys_stride;
    dqr.c = w.task.dqr + row * w.t.head_size;
    add_long_sum(dqr);
  }
}

void relative_gradients(const Work& w, const Block& b) {
  place_gradients(w, b);
  float* dq = w.at(w.l.dq);
  clear_floats(dq, kBlock * w.t.head_size);
  if (w.t.kr != nullptr) c2p_queries(w, b);
  if (w.t.qr != nullptr) p2c_keys(w, b);
  table_gradients(w, b);
  end_gradients(w, b, true);
  if (!w.t.is_causal || w.t.distances.t_lo >= 0) end_gradients(w, b, false);
  for (size_t i = b.begin; i < b.end; ++i) {
    float* to = w.task.dq + i * w.task.dq_stride;
    const float* from = dq + place_of(w, b, i) * w.t.head_size;
    for (size_t k = 0; k < w.t.head_size; k += kLanes) store(to + k, add(load(to + k), load(from + k)));
  }
}

}  // namespace
}  // namespace deberta
