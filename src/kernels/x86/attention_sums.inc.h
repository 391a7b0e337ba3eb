// Products of the gradient of attention: sums of outer products, added to what is there. The left operand has any two
// strides, so that it may be transposed, or skewed: G[i][i - t] over t is G with strides of a row and one. Rows of the
// right operand or of the sums may be those of the relative tables, by distance. A Step is one of register_tile.inc.h:
// a pack of the left operand, at any two strides in its Numbers, times a row of packs. Included after
// register_tile.inc.h and kTileVectors.

namespace deberta {
namespace {

// c[row of m] += sum over d of a[m a_row + d a_step] b[row of d]
template <class Step>
struct SumOf {
  const typename Step::Number* a;
  int64_t a_row, a_step;
  size_t rows, depth, columns;  // columns: a multiple of 16
  const float* b;
  size_t b_stride;
  const int16_t* b_rows;  // null: row d
  float* c;
  size_t c_stride;
  const int16_t* c_rows;  // null: row m; else every c_step-th of these, which may be the same
  size_t c_step;
};

template <class Step, size_t kRows, size_t kVectors, bool kIsIndexed>
void add_sum_tile(const SumOf<Step>& s, size_t m, size_t n) {
  Vector sums[kRows][kVectors];
  clear(sums);
  const typename Step::Number* a = s.a + static_cast<int64_t>(m) * s.a_row;
  const int64_t a_row = s.a_row, a_step = s.a_step;
  for (size_t d = 0; d < s.depth; ++d, a += a_step) {
    const float* b = s.b + (kIsIndexed ? static_cast<size_t>(s.b_rows[d]) : d) * s.b_stride + n;
    Vector right[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) right[v] = load(b + v * kLanes);
    DEBERTA_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const Vector left = Step::broadcast(a + static_cast<int64_t>(r) * a_row);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) Step::add(sums[r][v], left, right[v]);
    }
  }
  DEBERTA_UNROLL
  for (size_t r = 0; r < kRows; ++r) {  // in order: two may be the same row
    float* c = s.c + (s.c_rows != nullptr ? static_cast<size_t>(s.c_rows[(m + r) * s.c_step]) : m + r) * s.c_stride + n;
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) store(c + v * kLanes, add(load(c + v * kLanes), sums[r][v]));
  }
}

template <class Step, size_t kRows, size_t kVectors, bool kIsIndexed>
void add_sum_rows(const SumOf<Step>& s, size_t m, size_t n) {
  for (; m + kRows <= s.rows; m += kRows) add_sum_tile<Step, kRows, kVectors, kIsIndexed>(s, m, n);
  if constexpr (kRows > 1) add_sum_rows<Step, (kRows > 2 ? kRows - 2 : 1), kVectors, kIsIndexed>(s, m, n);
}

constexpr size_t kTileRows = 6;

template <class Step, size_t kVectors, bool kIsIndexed>
void add_sum_columns(const SumOf<Step>& s) {
  size_t n = 0;
  for (; n + kVectors * kLanes <= s.columns; n += kVectors * kLanes)
    add_sum_rows<Step, kTileRows, kVectors, kIsIndexed>(s, 0, n);
  if constexpr (kVectors * kLanes > kUnit) {  // 16, 32 or 48 are left
    for (; n < s.columns; n += kUnit) add_sum_rows<Step, kTileRows, kUnit / kLanes, kIsIndexed>(s, 0, n);
  }
}

template <class Step>
void add_sum(const SumOf<Step>& s) {
  if (s.b_rows != nullptr) return add_sum_columns<Step, kTileVectors, true>(s);
  add_sum_columns<Step, kTileVectors, false>(s);
}

// A sum over many, by steps that stay in the cache.
template <class Step>
void add_long_sum(SumOf<Step> s) {
  constexpr size_t kSteps = kDepth / Step::kPack;
  const size_t depth = s.depth;
  for (size_t d = 0; d < depth; d += kSteps) {
    s.depth = depth - d < kSteps ? depth - d : kSteps;
    add_sum(s);
    s.a += static_cast<int64_t>(kSteps) * s.a_step;
    s.b += kSteps * s.b_stride;
  }
}

// c[rows] += a[rows][depth] times b, dense but for a.
template <class Step>
SumOf<Step> sum_of_rows(const typename Step::Number* a, int64_t a_row, int64_t a_step, size_t rows, size_t depth,
                        size_t columns) {
  SumOf<Step> s{};
  s.a = a;
  s.a_row = a_row;
  s.a_step = a_step;
  s.rows = rows;
  s.depth = depth;
  s.columns = columns;
  s.b_stride = s.c_stride = columns;
  s.c_step = 1;
  return s;
}

}  // namespace
}  // namespace deberta
