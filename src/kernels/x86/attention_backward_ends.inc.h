// Distances of the relative terms: those that share their table row with few others, over each of which the products
// run, and those beyond the last rows (t_lo, t_hi), whose entries of G are summed first. Included by
// attention_backward_<format>.inc.h.
#include "kernels/x86/attention_backward_work.inc.h"

namespace deberta {
namespace {

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

// Keys whose distance from the position has the row of the last distance at one end.
inline Range keys_at_end(const Work& w, const Block& b, int64_t position, bool is_high) {
  const Range keys{0, static_cast<int64_t>(b.keys)};
  const AttentionDistances& d = w.t.distances;
  return is_high ? common(keys, {0, position - d.t_hi + 1}) : common(keys, {position - d.t_lo, keys.end});
}

// Sums of G over these keys, for each position, and over the positions, for each key. Rows of G have room for a vector
// behind the last key.
void sum_ends(const Work& w, const Block& b, bool is_high, float* row_ends, float* key_ends) {
  clear_floats(key_ends, w.l.scores.s_stride);
  for (size_t i = 0; i < b.positions; ++i) {
    const Range keys = keys_at_end(w, b, b.first + static_cast<int64_t>(i), is_high);
    const float* g_S = row_at(w, b, w.dp(), i);
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

// Whether the block has distances that share the last row at one end.
inline bool reaches_end(const Work& w, const Block& b, bool is_high) {
  const AttentionDistances& d = w.t.distances;
  if (!is_high && w.t.is_causal && d.t_lo < 0) return false;
  const int64_t nearest =
      is_high ? b.first + static_cast<int64_t>(b.positions) - 1 : b.first - static_cast<int64_t>(b.keys) + 1;
  return is_high ? nearest >= d.t_hi : nearest <= d.t_lo;
}

}  // namespace
}  // namespace deberta
