// The parts of attention that are not products: the two relative terms added by skewed loads, and the softmax. Included
// after vectors_<isa>.inc.h. No gather: rows of the relative tables are monotone in the distance with steps 0 or 1, so
// kLanes neighbours read one contiguous vector, permuted where a row covers several distances.
// c2p: a row is a query; reversed rows grow with the key. p2c: a row is a key, lanes are queries; kLanes rows are
// transposed in registers. Both cost about an eighth of Q K^T each.
#include "kernels/x86/dropout.inc.h"
#include "kernels/x86/exp2.inc.h"

namespace deberta {
namespace {

constexpr size_t kUnit = 16;  // widths of scratch are multiples of this

constexpr size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

inline int64_t position_of(const AttentionTask& t, size_t query) {
  return t.positions != nullptr ? t.positions[query] : static_cast<int64_t>(query);
}

// Where a band of products with table rows begins: a multiple of 16 rows, so that loads from the table are aligned.
inline int64_t align_down(int64_t row) {
  return row & ~static_cast<int64_t>(kUnit - 1);
}

// Keys that the query sees, all masks but that of causality aside.
inline size_t keys_seen(const AttentionTask& t, size_t query) {
  if (!t.is_causal) return t.keys;
  const auto end = static_cast<size_t>(position_of(t, query)) + 1;
  return end < t.keys ? end : t.keys;
}

// The least distance that matters, up to whole vectors: groups of queries skip the keys after them.
inline int64_t least_distance(const AttentionTask& t, int64_t first_position, size_t keys) {
  const int64_t least = first_position - (static_cast<int64_t>(round_up(keys, kUnit)) - 1);
  constexpr int64_t kCausal = 1 - static_cast<int64_t>(kUnit);
  return t.is_causal && least < kCausal ? kCausal : least;
}

struct Band {
  int64_t first;  // table row (reversed for c2p) of column 0
  size_t columns;
};

// Rows of p2c for keys [begin, end) and every query of the task.
inline Band key_band(const AttentionTask& t, size_t begin, size_t end) {
  const int64_t least = least_distance(t, align_down(t.first_position), end);
  const int64_t most = (align_down(t.last_position) + 15) - static_cast<int64_t>(begin);
  const int64_t low = align_down(t.distances.row[least]);
  const int64_t high = t.distances.row[most < least ? least : most];  // less if no query sees these keys
  return {low, round_up(static_cast<size_t>(high - low + 1), kUnit)};
}

// Reversed rows of c2p for queries [begin, end) and the first keys.
inline Band query_band(const AttentionTask& t, size_t begin, size_t end, size_t keys) {
  const int64_t reverse = t.distances.rows - 1;
  const int64_t low = align_down(reverse - t.distances.row[position_of(t, end - 1)]);
  const int64_t high = reverse - t.distances.row[least_distance(t, position_of(t, begin), keys)];
  return {low, round_up(static_cast<size_t>(high - low + 1), kUnit)};
}

// Bands of a task, as the skew reads them. Null: the term is not there.
struct Bands {
  const float* p2c;  // [keys][p2c_stride]
  size_t p2c_stride;
  const float* p2c_low;   // [keys]: at the row of all distances up to t_lo
  const float* p2c_high;  // [keys]: from t_hi on
  const float* c2p;       // [queries of the block][c2p_stride]
  size_t c2p_stride;
  int64_t c2p_first;
};

// r[q]: key j + q, lanes are the queries at positions base ..; then transposed. `first` is the key block's band.
inline void load_p2c(const AttentionTask& t, const Bands& b, int64_t base, size_t j, int64_t first, bool is_near,
                     Vector (&r)[kLanes]) {
  const int64_t distance = base - static_cast<int64_t>(j);
  const float* row = b.p2c + j * b.p2c_stride;
  if (is_near) {
    row += t.distances.row[distance] - first;
    DEBERTA_UNROLL
    for (size_t q = 0; q < kLanes; ++q) r[q] = load(row + q * (b.p2c_stride - 1));
  } else {
    DEBERTA_UNROLL
    for (size_t q = 0; q < kLanes; ++q) {
      const int64_t at = distance - static_cast<int64_t>(q);
      r[q] = permute(load(row + q * b.p2c_stride + (t.distances.row[at] - first)), t.distances.perm_q + 16 * at);
    }
  }
  transpose(r);
}

// The query at block row `row`, `distance` away from key j, against keys j ..
inline const float* c2p_at(const AttentionTask& t, const Bands& b, size_t row, int64_t distance) {
  return b.c2p + row * b.c2p_stride + (t.distances.rows - 1 - t.distances.row[distance] - b.c2p_first);
}
inline Vector load_c2p(const AttentionTask& t, const Bands& b, size_t row, int64_t distance, bool is_near) {
  const Vector v = load(c2p_at(t, b, row, distance));
  return is_near ? v : permute(v, t.distances.perm_k + 16 * distance);
}

// p2c of keys [begin, end) at the rows of the farthest distances, where some query is that far away.
inline void keep_ends(const AttentionTask& t, const Band& band, size_t begin, size_t end, const float* p2c,
                      size_t p2c_stride, float* low_S, float* high_S) {
  const int64_t low = t.distances.row[t.distances.t_lo] - band.first;
  const int64_t high = t.distances.row[t.distances.t_hi] - band.first;
  const auto columns = static_cast<int64_t>(band.columns);
  for (size_t j = begin; j < end; ++j) {
    const float* row = p2c + j * p2c_stride;
    if (low >= 0) low_S[j] = row[low];
    if (high < columns) high_S[j] = row[high];
  }
}

// Consecutive queries of a block whose positions lie in one aligned window of kLanes.
struct Group {
  int64_t base;  // position of lane 0
  size_t query;  // first query, counted in the task
  size_t row;    // the same, counted in the block
  size_t rows;
  bool is_whole;  // row + q has position base + q for all lanes
};

inline Group next_group(const AttentionTask& t, size_t query, size_t block_begin, size_t end) {
  constexpr int64_t kWindow = static_cast<int64_t>(kLanes);
  Group g{position_of(t, query) & -kWindow, query, query - block_begin, 0, true};
  if (t.positions == nullptr && query % kLanes == 0 && query + kLanes <= end) {
    g.rows = kLanes;
    return g;
  }
  while (query + g.rows < end && position_of(t, query + g.rows) < g.base + kWindow) {
    g.is_whole = g.is_whole && position_of(t, query + g.rows) == g.base + static_cast<int64_t>(g.rows);
    ++g.rows;
  }
  g.is_whole = g.is_whole && g.rows == kLanes;
  return g;
}

// Every distance of the tile has the row of distance `end`: one number for each key and each query.
template <bool kHasC2p, bool kHasP2c>
inline void add_constants(const AttentionTask& t, const Bands& b, const Group& g, int64_t end, const float* p2c_S,
                          float* out, size_t s_stride) {
  const float* c2p = kHasC2p ? c2p_at(t, b, g.row, end) : nullptr;
  const Vector p2c = kHasP2c ? load(p2c_S) : zero();
  for (size_t q = 0; q < g.rows; ++q) {
    Vector v = p2c;
    if (kHasC2p) v = kHasP2c ? add(v, broadcast(c2p + q * b.c2p_stride)) : broadcast(c2p + q * b.c2p_stride);
    store(out + q * s_stride, v);
  }
}

// s[row][j ..] = c2p + p2c of one group and kLanes keys.
template <bool kHasC2p, bool kHasP2c>
inline void add_terms(const AttentionTask& t, const Bands& b, const Group& g, size_t j, int64_t first, float* s,
                      size_t s_stride) {
  const int64_t distance = g.base - static_cast<int64_t>(j);
  constexpr int64_t kReach = static_cast<int64_t>(kLanes) - 1;
  float* out = s + g.row * s_stride + j;
  if (distance - kReach >= t.distances.t_hi)
    return add_constants<kHasC2p, kHasP2c>(t, b, g, t.distances.t_hi, b.p2c_high + j, out, s_stride);
  if (distance + kReach <= t.distances.t_lo)
    return add_constants<kHasC2p, kHasP2c>(t, b, g, t.distances.t_lo, b.p2c_low + j, out, s_stride);
  const bool is_near = distance - kReach >= -t.distances.linear_limit && distance + kReach <= t.distances.linear_limit;
  Vector r[kLanes];
  if (kHasP2c) load_p2c(t, b, g.base, j, first, is_near, r);
  if (g.is_whole && is_near) {  // the row grows with the query: one stride
    const float* c2p = kHasC2p ? c2p_at(t, b, g.row, distance) : nullptr;
    DEBERTA_UNROLL
    for (size_t q = 0; q < kLanes; ++q) {
      Vector v = kHasP2c ? r[q] : zero();
      if (kHasC2p) v = kHasP2c ? add(v, load(c2p + q * (b.c2p_stride - 1))) : load(c2p + q * (b.c2p_stride - 1));
      store(out + q * s_stride, v);
    }
    return;
  }
  if (g.is_whole) {
    DEBERTA_UNROLL
    for (size_t q = 0; q < kLanes; ++q) {
      Vector v = kHasP2c ? r[q] : zero();
      if (kHasC2p) {
        const Vector c2p = load_c2p(t, b, g.row + q, distance + static_cast<int64_t>(q), false);
        v = kHasP2c ? add(v, c2p) : c2p;
      }
      store(out + q * s_stride, v);
    }
    return;
  }
  alignas(64) float columns[kLanes * kLanes];
  if (kHasP2c) {
    DEBERTA_UNROLL
    for (size_t q = 0; q < kLanes; ++q) store(columns + q * kLanes, r[q]);
  }
  for (size_t q = 0; q < g.rows; ++q) {
    const int64_t position = position_of(t, g.query + q);
    Vector v = kHasP2c ? load(columns + static_cast<size_t>(position - g.base) * kLanes) : zero();
    if (kHasC2p) {
      const Vector c2p = load_c2p(t, b, g.row + q, position - static_cast<int64_t>(j), is_near);
      v = kHasP2c ? add(v, c2p) : c2p;
    }
    store(out + q * s_stride, v);
  }
}

// s = c2p + p2c for queries [begin, end) and the first `keys`, rounded up to whole vectors. Keys in the outer loop: the
// p2c rows of a block of keys stay in L1 while the queries pass.
template <bool kHasC2p, bool kHasP2c>
void skew(const AttentionTask& t, const Bands& b, size_t begin, size_t end, size_t keys, size_t key_block, float* s,
          size_t s_stride) {
  for (size_t block = 0; block < keys; block += key_block) {
    const size_t block_end = block + key_block < t.keys ? block + key_block : t.keys;
    const int64_t first = kHasP2c ? key_band(t, block, block_end).first : 0;
    for (size_t j = block; j < block_end && j < keys; j += kLanes) {
      for (size_t query = begin; query < end;) {
        const Group g = next_group(t, query, begin, end);
        query += g.rows;
        if (t.is_causal && static_cast<int64_t>(j) > g.base + static_cast<int64_t>(kLanes) - 1) continue;
        add_terms<kHasC2p, kHasP2c>(t, b, g, j, first, s, s_stride);
      }
    }
  }
}

// Which keys a query may see. Null: all.
struct Allowed {
  size_t keys;
  const uint16_t* key_bits;
  const uint64_t* query_bits;

  bool has_masks() const { return key_bits != nullptr || query_bits != nullptr; }
  // Bits of keys j .. j + kLanes - 1, none beyond the last key.
  uint64_t at(size_t j) const {
    uint64_t bits = keys - j >= kLanes ? (1u << kLanes) - 1 : (1u << (keys - j)) - 1;
    if (key_bits != nullptr) bits &= static_cast<uint64_t>(key_bits[j / 16]) >> (j % 16);
    if (query_bits != nullptr) bits &= query_bits[j / 64] >> (j % 64);
    return bits;
  }
};

struct RowSum {
  bool has_key;
  float largest;  // times scale
  float sum;
};

// The largest by lanes, in four chains: a single one would wait for each maximum. Minus infinity for none.
inline Vector largest_of(const float* s_S, size_t whole) {
  constexpr size_t kChains = 4;
  Vector best[kChains];
  for (Vector& chain : best) chain = all(-__builtin_inff());
  size_t j = 0;
  for (; j + kChains * kLanes <= whole; j += kChains * kLanes) {
    DEBERTA_UNROLL
    for (size_t c = 0; c < kChains; ++c) best[c] = max(load(s_S + j + c * kLanes), best[c]);
  }
  for (; j < whole; j += kLanes) best[0] = max(load(s_S + j), best[0]);
  return max(max(best[0], best[1]), max(best[2], best[3]));
}

// s_S becomes 2^(scale (s - max)), exactly 0 where masked and up to `padded` keys, written by put(j, vector). A NaN
// among the scores is in the sum, if not in the maximum.
template <bool kIsMasked, class Put>
inline RowSum softmax(const float* s_S, const Allowed& allowed, size_t padded, float scale, const Put& put) {
  const Vector lowest = all(-__builtin_inff());
  const size_t whole = kIsMasked ? 0 : allowed.keys / kLanes * kLanes;
  Vector best = largest_of(s_S, whole);
  uint64_t any = whole;
  for (size_t j = whole; j < allowed.keys; j += kLanes) {
    const uint64_t bits = allowed.at(j);
    any |= bits;
    best = max(select(to_mask(bits), load(s_S + j), lowest), best);
  }
  if (any == 0) return {.has_key = false, .largest = 0, .sum = 0};
  const float shift = largest(best) * scale;
  const Vector scales = all(scale), shifts = all(-shift);
  Vector total = zero();
  size_t j = 0;
  for (; j < whole; j += kLanes) {
    const Vector p = exp2_of(fma(load(s_S + j), scales, shifts));
    total = add(total, p);
    put(j, p);
  }
  for (; j < allowed.keys; j += kLanes) {
    const Vector p = select(to_mask(allowed.at(j)), exp2_of(fma(load(s_S + j), scales, shifts)), zero());
    total = add(total, p);
    put(j, p);
  }
  for (; j < padded; j += kLanes) put(j, zero());
  return {.has_key = true, .largest = shift, .sum = sum(total)};
}

// Key mask bytes [begin, end) as bits, 16 to a word; begin is a multiple of 16.
inline void pack_key_bits(const uint8_t* mask, size_t begin, size_t end, uint16_t* bits_by_16) {
  for (size_t j = begin; j < end; j += 16) {
    unsigned bits = 0;
    for (size_t l = 0; l < 16 && j + l < end; ++l) bits |= mask[j + l] != 0 ? 1u << l : 0u;
    bits_by_16[j / 16] = static_cast<uint16_t>(bits);
  }
}

}  // namespace
}  // namespace deberta
