// Products of attention in registers: tiles of 6 x (kTileVectors * kLanes), one chain per output in ascending depth, so
// that a row's bits do not depend on the rows around it. 6 x 64 with AVX-512 (24 accumulators, 4 columns, 1 broadcast
// of 32 registers), 6 x 16 with AVX2. Included after vectors_<isa>.inc.h and the operands: Number, kPack,
// broadcast_pack, multiply_add.

namespace deberta {
namespace {

// A step of depth: kPack numbers of a row of a, a vector of columns of b. Never looks at b behind a 0 of a when it
// skips zeros.
template <size_t kRows, size_t kVectors, bool kSkipsZeros>
void tile(const Product& p, size_t m, size_t n) {
  const Number* a = p.a + m * p.a_stride;
  const float* b = p.b + n;
  float* c = p.c + m * p.c_stride + n;
  Vector sums[kRows][kVectors];
  DEBERTA_UNROLL_ALL
  for (size_t i = 0; i < kRows; ++i) {
    DEBERTA_UNROLL_ALL
    for (size_t v = 0; v < kVectors; ++v) sums[i][v] = p.adds ? load(c + i * p.c_stride + v * kLanes) : zero();
  }
  for (size_t k = 0; k < p.depth; k += kPack, b += p.b_stride) {
    Vector right[kVectors];
    DEBERTA_UNROLL_ALL
    for (size_t v = 0; v < kVectors; ++v) right[v] = load(b + v * kLanes);
    DEBERTA_UNROLL_ALL
    for (size_t i = 0; i < kRows; ++i) {
      const Vector left = broadcast_pack(a + i * p.a_stride + k);
      DEBERTA_UNROLL_ALL
      for (size_t v = 0; v < kVectors; ++v) sums[i][v] = multiply_add<kSkipsZeros>(left, right[v], sums[i][v]);
    }
  }
  DEBERTA_UNROLL_ALL
  for (size_t i = 0; i < kRows; ++i) {
    DEBERTA_UNROLL_ALL
    for (size_t v = 0; v < kVectors; ++v) store(c + i * p.c_stride + v * kLanes, sums[i][v]);
  }
}

template <size_t kVectors, bool kSkipsZeros>
void tile_columns(const Product& p, size_t n) {
  size_t m = 0;
  for (; m + 6 <= p.rows; m += 6) tile<6, kVectors, kSkipsZeros>(p, m, n);
  if (m + 4 <= p.rows) {
    tile<4, kVectors, kSkipsZeros>(p, m, n);
    m += 4;
  }
  if (m + 2 <= p.rows) {
    tile<2, kVectors, kSkipsZeros>(p, m, n);
    m += 2;
  }
  if (m < p.rows) tile<1, kVectors, kSkipsZeros>(p, m, n);
}

// Columns outside: a panel of b stays in L1 while all rows pass.
template <bool kSkipsZeros>
void product(const Product& p) {
  constexpr size_t kWidth = kTileVectors * kLanes;
  size_t n = 0;
  for (; n + kWidth <= p.columns; n += kWidth) tile_columns<kTileVectors, kSkipsZeros>(p, n);
  if (n == p.columns) return;
  if constexpr (kTileVectors == 4) {  // 16, 32 or 48 are left
    switch ((p.columns - n) / kLanes) {
      case 1:
        return tile_columns<1, kSkipsZeros>(p, n);
      case 2:
        return tile_columns<2, kSkipsZeros>(p, n);
      default:
        return tile_columns<3, kSkipsZeros>(p, n);
    }
  }
}

}  // namespace
}  // namespace deberta
