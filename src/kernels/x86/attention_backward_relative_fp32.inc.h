// What the relative terms add to the gradient, block by block, from G = [positions][keys] between zeros. Products are
// taken over distances, of which each has a table row; those beyond the last rows (t_lo, t_hi) are summed first.
// Included by attention_backward_fp32.inc.h.
#include "kernels/x86/attention_backward_ends.inc.h"

namespace deberta {
namespace {

// Rows of G by position.
void place_gradients(const Fp32Work& w, const Block& b) {
  for (size_t row = 0; row < kBlock; ++row) clear_floats(w.g() + row * w.f.g_stride, b.keys);
  for (size_t i = b.begin; i < b.end; ++i) {
    const float* from = w.dp() + (i - b.begin) * w.l.scores.s_stride;
    copy_floats(w.g() + place_of(w, b, i) * w.f.g_stride, from, b.keys);
  }
}

constexpr int64_t kPositions = static_cast<int64_t>(kBlock);

// dQ_i += G[i][i-t] Kr[row(t)], by position.
void c2p_queries(const Fp32Work& w, const Block& b) {
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
void p2c_keys(const Fp32Work& w, const Block& b) {
  for (size_t j = 0; j < b.keys; j += kTileRows) {
    const size_t rows = b.keys - j < kTileRows ? b.keys - j : kTileRows;
    const int64_t distance = b.first - static_cast<int64_t>(j);  // distance of the first position
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
void table_gradients(const Fp32Work& w, const Block& b) {
  const auto keys = static_cast<int64_t>(b.keys);
  const Range all = common(inner_distances(w.t), {b.first - keys + 1, b.first + kPositions});
  for (int64_t t = all.begin; t < all.end; t += static_cast<int64_t>(kTileRows)) {
    const int64_t rows = all.end - t < static_cast<int64_t>(kTileRows) ? all.end - t : static_cast<int64_t>(kTileRows);
    if (w.t.kr != nullptr) {
      const Range i = common({0, kPositions}, {t - b.first, keys - b.first + t + rows - 1});
      const float* a = w.g() + i.begin * w.g_stride() + (b.first + i.begin - t);
      Sum s = sum_of_rows(w, a, -1, w.g_stride() + 1, static_cast<size_t>(rows), size_of(i));
      s.b = w.at(w.f.placed_q) + static_cast<size_t>(i.begin) * w.t.head_size;
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

// The distances that share the last row at one end: one number for each position and each key.
void end_gradients(const Fp32Work& w, const Block& b, bool is_high) {
  if (!reaches_end(w, b, is_high)) return;
  const AttentionDistances& d = w.t.distances;
  float* row_ends = w.at(w.l.row_ends);
  float* key_ends = w.at(w.l.key_ends);
  sum_ends(w, b, is_high, row_ends, key_ends);
  const auto row = static_cast<size_t>(d.row[is_high ? d.t_hi : d.t_lo]);
  if (w.t.kr != nullptr) {
    Sum dq = sum_of_rows(w, row_ends, 1, 0, b.positions, 1);
    dq.b = w.task.kr + row * w.task.kr_stride;
    dq.c = w.at(w.l.dq);
    add_sum(dq);
    Sum dkr = sum_of_rows(w, row_ends, 0, 1, 1, b.positions);
    dkr.b = w.at(w.f.placed_q);
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

void relative_gradients(const Fp32Work& w, const Block& b) {
  place_gradients(w, b);
  float* dq = w.at(w.l.dq);
  clear_floats(dq, kBlock * w.t.head_size);
  if (w.t.kr != nullptr) c2p_queries(w, b);
  if (w.t.qr != nullptr) p2c_keys(w, b);
  table_gradients(w, b);
  end_gradients(w, b, true);
  end_gradients(w, b, false);
  for (size_t i = b.begin; i < b.end; ++i) {
    float* to = w.task.dq + i * w.task.dq_stride;
    const float* from = dq + place_of(w, b, i) * w.t.head_size;
    for (size_t k = 0; k < w.t.head_size; k += kLanes) store(to + k, add(load(to + k), load(from + k)));
  }
}

}  // namespace
}  // namespace deberta
