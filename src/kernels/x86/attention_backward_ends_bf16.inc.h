// What the distances beyond the last rows of the tables add to the gradient, in bf16: one number for each position and
// each key. Included by attention_backward_relative_bf16.inc.h and attention_backward_tiles.inc.h.
#include "kernels/x86/attention_backward_pairs.inc.h"

namespace deberta {
namespace {

// to += factors[row] times the row of both numbers of pairs.
void add_row_sum(const PairWork& w, const float* factors, const float* pairs, size_t rows, float* to) {
  for (size_t k = 0; k < w.t.head_size; k += kLanes) {
    Vector total = zero();
    for (size_t row = 0; row < rows; row += 2) {
      const Vector pair = load(pairs + row / 2 * w.t.head_size + k);
      total = fma(broadcast(factors + row), low_bf16(pair), total);
      if (row + 1 < rows) total = fma(broadcast(factors + row + 1), high_bf16(pair), total);
    }
    store(to + k, add(load(to + k), total));
  }
}

// The distances that share the last row at one end: one number for each position and each key, in fp32.
void end_gradients(const PairWork& w, const Block& b, bool is_high) {
  if (!reaches_end(w, b, is_high)) return;
  float *row_ends = w.at(w.l.row_ends), *key_ends = w.at(w.l.key_ends);
  sum_ends(w, b, is_high, row_ends, key_ends);
  const size_t size = w.t.head_size, end = is_high ? size : 0;
  const auto row = static_cast<size_t>(w.t.distances.row[is_high ? w.t.distances.t_hi : w.t.distances.t_lo]);
  if (w.t.kr != nullptr) {
    Fp32Sum dq = sum_of_rows<Fp32>(row_ends, 1, 0, b.positions, 1, size);
    dq.b = w.at(w.p.kr_ends) + end;
    dq.c = w.at(w.l.dq);
    add_sum(dq);
    add_row_sum(w, row_ends, w.at(w.p.q_pairs), b.positions, w.task.dkr + row * size);
  }
  if (w.t.qr != nullptr) {
    Fp32Sum dk = sum_of_rows<Fp32>(key_ends, 1, 0, b.keys, 1, size);
    dk.b = w.at(w.p.qr_ends) + end;
    dk.c = w.task.dk;
    dk.c_stride = w.task.dk_stride;
    add_sum(dk);
    add_row_sum(w, key_ends, w.at(w.p.k_even), b.keys, w.task.dqr + row * size);
  }
}

}  // namespace
}  // namespace deberta
