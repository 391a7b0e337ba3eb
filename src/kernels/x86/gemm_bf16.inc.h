// The bf16 tile without bf16 instructions, included by gemm_bf16_<isa>.cpp after vectors_<isa>.inc.h and `low` and
// `high` of the pairs in a vector, widened to fp32. Half the bytes of fp32, not half the time. The order of sums is
// that of k: even, then odd.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
namespace {

inline Vector load_pairs(const uint16_t* p) {
  return load((const float*)p);
}

struct WidenedPairs {
  static constexpr size_t kPack = 2, kUnit = 2;

  template <size_t kRows, class Half>
  static void add_half(Vector (&sums)[kRows][kVectors], const uint16_t* a, size_t a_stride, const uint16_t* panel,
                       Half half) {
    Vector b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = half(load_pairs(panel + 2 * v * kLanes));
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector left = half(broadcast_bits(a + m * a_stride));
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sums[m][v] = fma(left, b[v], sums[m][v]);
    }
  }

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    Vector sums[kRows][kVectors];
    clear(sums);
    const uint16_t* panel = static_cast<const uint16_t*>(t.panel);
    const uint16_t* a = static_cast<const uint16_t*>(t.a_MK);
    for (size_t g = 0; g < t.groups; ++g, panel += 2 * kWidth, a += 2) {
      add_half(sums, a, t.a_stride, panel, [](Vector pairs) { return low(pairs); });
      // Read again: a compiler that keeps the pairs for the odd elements has no register left for the sums.
      const uint16_t* panel_again = panel;
      const uint16_t* a_again = a;
      __asm__("" : "+r"(panel_again), "+r"(a_again));
      add_half(sums, a_again, t.a_stride, panel_again, [](Vector pairs) { return high(pairs); });
    }
    store_sums(sums, static_cast<float*>(t.tile_MW), kWidth);
  }
};

}  // namespace
}  // namespace deberta
