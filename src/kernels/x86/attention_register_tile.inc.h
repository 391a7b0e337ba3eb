// Products of attention in vector registers: tiles of 6 x (kTileVectors * kLanes). Included after vectors_<isa>.inc.h
// and the operands: Number, kPack and Packs<kSkipsZeros>, a step of products (register_tile.inc.h) that never looks at
// b behind a 0 of a when it skips zeros.
#include "kernels/x86/register_tile.inc.h"

namespace deberta {
namespace {

template <size_t kRows, size_t kVectors>
inline void add_sums(Vector (&sums)[kRows][kVectors], const float* c, size_t stride) {
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sums[m][v] = add(load(c + m * stride + v * kLanes), sums[m][v]);
  }
}

// What is there already is added last: a chain that begins with it would be rounded at its size in every step.
template <size_t kRows, size_t kVectors, bool kSkipsZeros>
void tile(const Product& p, size_t m, size_t n) {
  float* c = p.c + m * p.c_stride + n;
  Vector sums[kRows][kVectors];
  clear(sums);
  add_products<Packs<kSkipsZeros>>(sums, p.a + m * p.a_stride, p.a_stride, p.b + n, p.b_stride, p.depth / kPack, [] {});
  if (p.adds) add_sums(sums, c, p.c_stride);
  store_sums(sums, c, p.c_stride);
}

// Rows from m on, kRows at once; then fewer.
template <size_t kRows, size_t kVectors, bool kSkipsZeros>
void tile_rows(const Product& p, size_t m, size_t n) {
  for (; m + kRows <= p.rows; m += kRows) tile<kRows, kVectors, kSkipsZeros>(p, m, n);
  if constexpr (kRows > 1) tile_rows<(kRows > 2 ? kRows - 2 : 1), kVectors, kSkipsZeros>(p, m, n);
}

template <size_t kVectors, bool kSkipsZeros>
void tile_columns(const Product& p, size_t n) {
  tile_rows<kSkipsZeros ? kRowsSkippingZeros : 6, kVectors, kSkipsZeros>(p, 0, n);
}

// Columns in the outer loop: a panel of b stays in L1 while all rows pass.
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
