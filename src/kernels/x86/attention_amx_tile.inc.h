// Products of attention in bf16 with AMX, on its operands: tiles of 16 x 16 with a depth of 32, two by two. Included
// after vectors_avx512.inc.h.
#include "kernels/x86/amx_tiles.inc.h"
#include "kernels/x86/attention_bf16.inc.h"

namespace deberta {
namespace {

// Released afterwards, so that other code finds no configuration.
inline void begin_products() {
  configure_tiles();
}
inline void end_products() {
  _tile_release();
}

// Two by two: 4 products for 4 loads.
template <bool kHasLower, bool kHasRight>
inline void tiles(const Product& p, size_t m, size_t n) {
  const auto bytes = [](size_t columns) { return static_cast<int64_t>(columns * sizeof(float)); };
  const int64_t c_stride = bytes(p.c_stride), b_stride = bytes(p.b_stride);
  const int64_t a_stride = static_cast<int64_t>(p.a_stride * sizeof(Number));
  float* c = p.c + m * p.c_stride + n;
  float* lower = c + 16 * p.c_stride;
  if (p.adds) {
    _tile_loadd(0, c, c_stride);
    if (kHasRight) _tile_loadd(1, c + 16, c_stride);
    if (kHasLower) _tile_loadd(2, lower, c_stride);
    if (kHasLower && kHasRight) _tile_loadd(3, lower + 16, c_stride);
  } else {
    _tile_zero(0);
    if (kHasRight) _tile_zero(1);
    if (kHasLower) _tile_zero(2);
    if (kHasLower && kHasRight) _tile_zero(3);
  }
  const Number* a = p.a + m * p.a_stride;
  const float* b = p.b + n;
  for (size_t k = 0; k < p.depth; k += 32, a += 32, b += 16 * p.b_stride) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(6, b, b_stride);
    _tile_dpbf16ps(0, 4, 6);
    if (kHasRight) {
      _tile_loadd(7, b + 16, b_stride);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (kHasLower) {
      _tile_loadd(5, a + 16 * p.a_stride, a_stride);
      _tile_dpbf16ps(2, 5, 6);
      if (kHasRight) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, c, c_stride);
  if (kHasRight) _tile_stored(1, c + 16, c_stride);
  if (kHasLower) _tile_stored(2, lower, c_stride);
  if (kHasLower && kHasRight) _tile_stored(3, lower + 16, c_stride);
}

// Rows of a and c exist up to the next multiple of 16; what lies there does not matter.
template <bool kSkipsZeros>
void product(const Product& p) {
  static_assert(!kSkipsZeros, "values that a mask leaves out are zeros");
  const size_t rows = round_up(p.rows, 16);
  for (size_t n = 0; n < p.columns; n += 32) {
    const bool has_right = n + 16 < p.columns;
    for (size_t m = 0; m < rows; m += 32) {
      if (m + 16 < rows) {
        has_right ? tiles<true, true>(p, m, n) : tiles<true, false>(p, m, n);
      } else {
        has_right ? tiles<false, true>(p, m, n) : tiles<false, false>(p, m, n);
      }
    }
  }
}

}  // namespace
}  // namespace deberta
