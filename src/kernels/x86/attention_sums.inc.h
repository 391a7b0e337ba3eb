// Products of the gradient of attention: sums of outer products, added to what is there. The left operand has any two
// strides, so that it may be transposed, or skewed: G[i][i - t] over t is G with strides of a row and one. Rows of the
// right operand or of the sums may be those of the relative tables, by distance. Included after register_tile.inc.h and
// kTileVectors.

namespace deberta {
namespace {

// c[row of m] += sum over d of a[m a_row + d a_step] b[row of d]
struct Sum {
  const float* a;
  int64_t a_row, a_step;
  size_t rows, depth, columns;  // columns: a multiple of 16
  const float* b;
  size_t b_stride;
  const int16_t* b_rows;  // null: row d
  float* c;
  size_t c_stride;
  const int16_t* c_rows;  // null: row m; rows may be the same
};

template <size_t kRows, size_t kVectors, bool kIsIndexed>
void add_sum_tile(const Sum& s, size_t m, size_t n) {
  Vector sums[kRows][kVectors];
  clear(sums);
  const float* a = s.a + static_cast<int64_t>(m) * s.a_row;
  const int64_t a_row = s.a_row, a_step = s.a_step;
  for (size_t d = 0; d < s.depth; ++d, a += a_step) {
    const float* b = s.b + (kIsIndexed ? static_cast<size_t>(s.b_rows[d]) : d) * s.b_stride + n;
    Vector right[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) right[v] = load(b + v * kLanes);
    DEBERTA_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const Vector left = broadcast(a + static_cast<int64_t>(r) * a_row);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = fma(left, right[v], sums[r][v]);
    }
  }
  DEBERTA_UNROLL
  for (size_t r = 0; r < kRows; ++r) {  // in order: two may be the same row
    float* c = s.c + (s.c_rows != nullptr ? static_cast<size_t>(s.c_rows[m + r]) : m + r) * s.c_stride + n;
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) store(c + v * kLanes, add(load(c + v * kLanes), sums[r][v]));
  }
}

template <size_t kRows, size_t kVectors, bool kIsIndexed>
void add_sum_rows(const Sum& s, size_t m, size_t n) {
  for (; m + kRows <= s.rows; m += kRows) add_sum_tile<kRows, kVectors, kIsIndexed>(s, m, n);
  if constexpr (kRows > 1) add_sum_rows<(kRows > 2 ? kRows - 2 : 1), kVectors, kIsIndexed>(s, m, n);
}

constexpr size_t kTileRows = 6;

template <size_t kVectors, bool kIsIndexed>
void add_sum_columns(const Sum& s) {
  size_t n = 0;
  for (; n + kVectors * kLanes <= s.columns; n += kVectors * kLanes)
    add_sum_rows<kTileRows, kVectors, kIsIndexed>(s, 0, n);
  if constexpr (kVectors * kLanes > kUnit) {  // 16, 32 or 48 are left
    for (; n < s.columns; n += kUnit) add_sum_rows<kTileRows, kUnit / kLanes, kIsIndexed>(s, 0, n);
  }
}

inline void add_sum(const Sum& s) {
  if (s.b_rows != nullptr) return add_sum_columns<kTileVectors, true>(s);
  add_sum_columns<kTileVectors, false>(s);
}

// A sum over many, by steps that stay in the cache.
inline void add_long_sum(Sum s) {
  const size_t depth = s.depth;
  for (size_t d = 0; d < depth; d += kDepth) {
    s.depth = depth - d < kDepth ? depth - d : kDepth;
    add_sum(s);
    s.a += static_cast<int64_t>(kDepth) * s.a_step;
    s.b += kDepth * s.b_stride;
  }
}

}  // namespace
}  // namespace deberta
