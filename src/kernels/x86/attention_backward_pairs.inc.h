// Operands of the gradient's products in bf16. A pair is two numbers that are neighbours along a sum, in a lane of 32
// bits, low = first. Rows (i) are positions of a block, columns (j) keys:
//   P2[i/2][j] = P[i][j], P[i+1][j]      G2 the same of G      GD[i/2][j] = G[i][j], G[i+1][j+1]      Gb[i][j] = G
// for even i. G2, GD and Gb lie between zeros, so that a transposition or a skew is a matter of strides. A kernel says
// what its tiles read beyond these:
//   kColumnEdges   columns of zeros on both sides of the keys, together; keeps strides off powers of two
//   kPairEdge      pairs of zeros before and after those of keys and of distances
//   kPositionUnit  positions are padded with zeros to this
#include "kernels/x86/attention_backward_ends.inc.h"

namespace deberta {
namespace {

constexpr size_t kRowEdge = kTileRows - 1;  // pairs of rows of zeros before and after: a skewed tile reads them
constexpr size_t kColumnEdge = 16;          // columns before the first key

using PairSum = SumOf<Bf16Pairs>;
using Fp32Sum = SumOf<Fp32>;

// Offsets in bytes, behind those of the block; strides in lanes, of Gb in numbers.
struct PairLayout {
  size_t p2, g2, gd, gb, stride;
  size_t dout;                       // [kBlock][head size], by query
  size_t q_pairs, dout_pairs;        // [kBlock / 2][head size] pairs, by position
  size_t k_even, k_odd;              // pairs that begin with even keys, and with odd ones from -1 on
  size_t kr_pairs, qr_even, qr_odd;  // by distance, from the first inner one on; odd: from the one before it on
  size_t kr_ends, qr_ends;           // rows of the last distances, low and high, in fp32
  size_t size_bytes;
};

constexpr size_t edge_bytes(size_t head_size) {
  return kPairEdge * head_size * sizeof(float);
}

PairLayout pair_layout_of(const AttentionExtent& e) {
  const BlockLayout block = block_layout_of(e);
  PairLayout l{};
  l.stride = block.scores.keys + kColumnEdges;
  size_t end = block.size_bytes;
  const auto rows = [&](size_t count) { return take_floats(end, count * e.head_size); };
  constexpr size_t kPairs = kBlock / 2;
  l.p2 = take_floats(end, kPairs * l.stride);
  l.g2 = take_floats(end, (kPairs + 2 * kRowEdge) * l.stride);
  l.gd = take_floats(end, (kPairs + 2 * kRowEdge) * l.stride);
  l.gb = take_floats(end, kPairs * l.stride);
  l.dout = rows(kPairs);
  l.q_pairs = rows(kPairs);
  l.dout_pairs = rows(kPairs);
  const auto edged_rows = [&](size_t count) { return rows(count + 2 * kPairEdge) + edge_bytes(e.head_size); };
  l.k_even = edged_rows(block.scores.keys / 2 + 1);
  l.k_odd = edged_rows(block.scores.keys / 2 + 1);
  const size_t distances = e.rows == 0 ? 0 : (e.positions + e.keys) / 2 + 2;
  l.kr_pairs = edged_rows(distances);
  l.qr_even = edged_rows(distances);
  l.qr_odd = edged_rows(distances);
  l.kr_ends = rows(2);
  l.qr_ends = rows(2);
  l.size_bytes = end;
  return l;
}

struct PairWork : Work {
  PairLayout p;
  Range inner;  // distances with pairs of table rows

  // Each points at position 0 of the block and key 0.
  float* p2() const { return at(p.p2) + kColumnEdge; }
  float* g2() const { return at(p.g2) + kRowEdge * p.stride + kColumnEdge; }
  float* gd() const { return at(p.gd) + kRowEdge * p.stride + kColumnEdge; }
  uint16_t* gb() const { return (uint16_t*)at(p.gb) + kColumnEdge; }
  int64_t stride() const { return static_cast<int64_t>(p.stride); }
};

// A sum whose left operand is lanes of pairs, with strides in lanes.
inline PairSum sum_of_lanes(const Work& w, const float* a, int64_t a_row, int64_t a_step, size_t rows, size_t depth) {
  return sum_of_rows<Bf16Pairs>((const uint16_t*)a, 2 * a_row, 2 * a_step, rows, depth, w.t.head_size);
}

inline void store_bits(float* to, __m512i bits) {
  store(to, _mm512_castsi512_ps(bits));
}

// A row of numbers, rounded; zeros for null.
inline void round_row(const float* from, size_t size, uint16_t* to) {
  for (size_t k = 0; k < size; k += 32) {
    const __m512i bits = from == nullptr ? _mm512_setzero_si512()
                                         : (__m512i)_mm512_cvtne2ps_pbh(load(from + k + kLanes), load(from + k));
    _mm512_storeu_si512(to + k, bits);
  }
}

// Words 0, 16, 1, 17, ...: lane l of two rows of 16.
inline __m512i order_of_pairs() {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_or_si512(lanes, _mm512_slli_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(16)), 16));
}

// P2, G2 and Gb of two positions.
void pair_rows(const PairWork& w, const Block& b, size_t i) {
  const __m512i order = order_of_pairs();
  const float *s0 = row_at(w, b, w.s(), i), *s1 = row_at(w, b, w.s(), i + 1);
  const float *g0 = row_at(w, b, w.dp(), i), *g1 = row_at(w, b, w.dp(), i + 1);
  float *p2 = w.p2() + i / 2 * w.p.stride, *g2 = w.g2() + i / 2 * w.p.stride;
  uint16_t *gb0 = w.gb() + i * w.p.stride, *gb1 = gb0 + w.p.stride;
  for (size_t j = 0; j < b.keys; j += kLanes) {
    const __m512i p = (__m512i)_mm512_cvtne2ps_pbh(load(s1 + j), load(s0 + j));
    const __m512i g = (__m512i)_mm512_cvtne2ps_pbh(load(g1 + j), load(g0 + j));
    store_bits(p2 + j, _mm512_permutexvar_epi16(order, p));
    store_bits(g2 + j, _mm512_permutexvar_epi16(order, g));
    store_halves(gb0 + j, _mm512_castsi512_si256(g));
    store_halves(gb1 + j, _mm512_extracti64x4_epi64(g, 1));
  }
}

// GD of two positions, from Gb.
void diagonal_pairs(const PairWork& w, const Block& b, size_t i) {
  float* gd = w.gd() + i / 2 * w.p.stride;
  const uint16_t *gb0 = w.gb() + i * w.p.stride, *gb1 = gb0 + w.p.stride + 1;
  const auto keys = static_cast<int64_t>(b.keys), lanes = static_cast<int64_t>(kLanes);
  for (int64_t j = -lanes; j < keys; j += lanes) {
    const __m512i low = _mm512_cvtepu16_epi32(load_halves(gb0 + j)), high = _mm512_cvtepu16_epi32(load_halves(gb1 + j));
    store_bits(gd + j, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

// Rows of pairs become zeros, edges too, as far as a sequence reads them: another of the pack may be longer.
void clear_pairs(const PairWork& w, float* row, size_t count) {
  const size_t columns = round_up(w.t.keys, kKeyUnit) + kColumnEdges;
  for (size_t pair = 0; pair < count; ++pair) clear_floats(row + pair * w.p.stride - kColumnEdge, columns);
}

// Positions behind the last query are zeros as far as a tile reads.
void make_pairs(const PairWork& w, const Block& b) {
  const bool has_terms = w.t.kr != nullptr || w.t.qr != nullptr;
  const size_t positions = round_up(b.positions, kPositionUnit);
  for (size_t i = 0; i < positions; i += 2) pair_rows(w, b, i);
  if (!has_terms) return;
  // Afterwards: a load that begins within what was just stored waits for it.
  for (size_t i = 0; i < positions; i += 2) diagonal_pairs(w, b, i);
  const size_t end = positions / 2;
  clear_pairs(w, w.g2() + end * w.p.stride, kRowEdge);
  clear_pairs(w, w.gd() + end * w.p.stride, kRowEdge);
}

// q and dO by position, without those that have no gradient, which may hold anything.
void pair_queries(const PairWork& w, const Block& b, const Left& q) {
  const size_t size = w.t.head_size;
  const uint16_t* dout = (const uint16_t*)w.at(w.p.dout);
  const auto row = [&](const uint16_t* rows, size_t position) -> const uint16_t* {
    const int64_t at = position < kBlock ? b.row_of[position] : -1;
    return at < 0 || !has_gradient(w, b.begin + static_cast<size_t>(at)) ? nullptr
                                                                         : rows + at * static_cast<int64_t>(size);
  };
  for (size_t i = 0; i < round_up(b.positions, kPositionUnit); i += 2) {
    interleave_rows(row(q.data, i), row(q.data, i + 1), size, (uint16_t*)w.at(w.p.q_pairs) + i * size);
    interleave_rows(row(dout, i), row(dout, i + 1), size, (uint16_t*)w.at(w.p.dout_pairs) + i * size);
  }
}

// Around `count` pairs.
inline void clear_edges(const PairWork& w, size_t pairs, size_t count) {
  if (kPairEdge == 0) return;
  const size_t edge = kPairEdge * w.t.head_size;
  clear_floats(w.at(pairs) - edge, edge);
  clear_floats(w.at(pairs) + count * w.t.head_size, edge);
}

void pair_keys(const PairWork& w) {
  const size_t size = w.t.head_size;
  clear_edges(w, w.p.k_even, w.t.keys / 2 + 1);
  clear_edges(w, w.p.k_odd, w.t.keys / 2 + 1);
  const auto row = [&](int64_t key) { return key_row(w.t, w.t.k, w.t.k_stride, key); };
  for (size_t pair = 0; pair <= w.t.keys / 2; ++pair) {
    const auto key = static_cast<int64_t>(2 * pair);
    interleave_rows(row(key), row(key + 1), size, (uint16_t*)(w.at(w.p.k_even) + pair * size));
    interleave_rows(row(key - 1), row(key), size, (uint16_t*)(w.at(w.p.k_odd) + pair * size));
  }
}

// One pair of rows of a table; distances outside the inner ones are zeros.
void pair_of_table(const PairWork& w, const float* table, size_t stride, int64_t low, int64_t high, float* to) {
  alignas(64) uint16_t rows[2][32];
  const auto row = [&](int64_t t) {
    return t < w.inner.begin || t >= w.inner.end ? nullptr : table + static_cast<size_t>(w.t.distances.row[t]) * stride;
  };
  const float *low_row = row(low), *high_row = row(high);
  for (size_t k = 0; k < w.t.head_size; k += 32) {
    round_row(low_row != nullptr ? low_row + k : nullptr, 32, rows[0]);
    round_row(high_row != nullptr ? high_row + k : nullptr, 32, rows[1]);
    interleave_rows(rows[0], rows[1], 32, (uint16_t*)(to + k));
  }
}

void round_ends(const PairWork& w, const float* table, size_t stride, float* ends) {
  const size_t size = w.t.head_size;
  for (size_t k = 0; k < size; k += kLanes) {
    store(ends + k,
          from_bf16(to_bf16(load(table + static_cast<size_t>(w.t.distances.row[w.t.distances.t_lo]) * stride + k))));
    store(ends + size + k,
          from_bf16(to_bf16(load(table + static_cast<size_t>(w.t.distances.row[w.t.distances.t_hi]) * stride + k))));
  }
}

// Pairs by distance: of Kr the farther one is low, as its key is the first.
void pair_tables(const PairWork& w) {
  const int64_t pairs = (w.inner.end - w.inner.begin) / 2 + 1;
  clear_edges(w, w.p.kr_pairs, static_cast<size_t>(pairs));
  clear_edges(w, w.p.qr_even, static_cast<size_t>(pairs));
  clear_edges(w, w.p.qr_odd, static_cast<size_t>(pairs));
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t t = w.inner.begin + 2 * pair;
    const size_t at = static_cast<size_t>(pair) * w.t.head_size;
    if (w.t.kr != nullptr) pair_of_table(w, w.task.kr, w.task.kr_stride, t + 1, t, w.at(w.p.kr_pairs) + at);
    if (w.t.qr == nullptr) continue;
    pair_of_table(w, w.task.qr, w.task.qr_stride, t, t + 1, w.at(w.p.qr_even) + at);
    pair_of_table(w, w.task.qr, w.task.qr_stride, t - 1, t, w.at(w.p.qr_odd) + at);
  }
  if (w.t.kr != nullptr) round_ends(w, w.task.kr, w.task.kr_stride, w.at(w.p.kr_ends));
  if (w.t.qr != nullptr) round_ends(w, w.task.qr, w.task.qr_stride, w.at(w.p.qr_ends));
}

PairWork prepare_pairs(const AttentionBackwardTask& task, const AttentionExtent& extent, void* scratch) {
  const AttentionTask& t = task.forward;
  PairWork w{{task, t, block_layout_of(extent), scratch}, pair_layout_of(extent), {0, 0}};
  prepare_block_keys(w, extent);
  pair_keys(w);
  constexpr size_t kPairs = kBlock / 2;
  clear_pairs(w, w.at(w.p.g2) + kColumnEdge, kPairs + 2 * kRowEdge);
  clear_pairs(w, w.at(w.p.gd) + kColumnEdge, kPairs + 2 * kRowEdge);
  const size_t columns = round_up(t.keys, kKeyUnit) + kColumnEdges;
  for (size_t row = 0; row < kBlock; ++row)
    __builtin_memset(w.gb() + row * w.p.stride - kColumnEdge, 0, columns * sizeof(uint16_t));
  if (t.kr == nullptr && t.qr == nullptr) return w;
  const int64_t keys = static_cast<int64_t>(t.keys);
  w.inner = common(inner_distances(t), {t.first_position - keys + 1, t.last_position + 1});
  pair_tables(w);
  return w;
}

// dO of a block, rounded. Where there is no gradient it may hold anything: products with it are not read.
Left round_douts(const PairWork& w, const Block& b) {
  uint16_t* to = (uint16_t*)w.at(w.p.dout);
  for (size_t i = b.begin; i < b.end; ++i)
    round_row(w.task.dout + i * w.task.dout_stride, w.t.head_size, to + (i - b.begin) * w.t.head_size);
  return {to, w.t.head_size};
}

// The operands of a block's products.
void pair_block(const PairWork& w, const Block& b) {
  const Left q = left_of(w.t, w.t.q, w.t.q_stride, b.begin, b.end, at(w.own(), w.l.scores.left));
  const Left dout = round_douts(w, b);
  products_of_block(w, b, q, dout);
  gradient_rows(w, b, dout);
  make_pairs(w, b);
  pair_queries(w, b, q);
}

// dQ, from the places of its positions.
void store_queries(const PairWork& w, const Block& b) {
  for (size_t i = b.begin; i < b.end; ++i)
    copy_floats(w.task.dq + i * w.task.dq_stride, w.at(w.l.dq) + place_of(w, b, i) * w.t.head_size, w.t.head_size);
}

}  // namespace
}  // namespace deberta
