// The int8 tile without VNNI, included by gemm_int8_<isa>.cpp after vectors_<isa>.inc.h, dot: sum + madd of s16 pairs,
// and widen_bytes: 2 kLanes bytes to s16. Weights lie as s16 pairs; A's bytes are widened to s16 in blocks of k. madd
// of s16 cannot overflow here (maddubs of u8 and s8 would saturate), so the sums are those of VNNI.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
namespace {

struct Words {
  using Number = int16_t;
  static constexpr size_t kPack = 2;
  static Vector broadcast(const int16_t* a) { return broadcast_bits(a); }
  static void add(Vector& sum, Vector left, Vector right) { sum = dot(sum, left, right); }
};

struct WidenedBytes {
  static constexpr size_t kPack = 2, kUnit = 4;
  static constexpr size_t kBlockGroups = 256;

  template <size_t kRows>
  static void widen(const GemmTile& t, size_t first, size_t groups, int16_t (*a)[2 * kBlockGroups]) {
    for (size_t m = 0; m < kRows; ++m) {
      const uint8_t* a_K = static_cast<const uint8_t*>(t.a_MK) + m * t.a_stride + 2 * first;
      size_t k = 0;
      for (; k + 2 * kLanes <= 2 * groups; k += 2 * kLanes) widen_bytes(a_K + k, a[m] + k);
      for (; k < 2 * groups; ++k) a[m][k] = a_K[k];
    }
  }

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    int16_t a[kRows][2 * kBlockGroups];
    Vector sums[kRows][kVectors];
    float* tile_MW = static_cast<float*>(t.tile_MW);
    const float* panel = static_cast<const float*>(t.panel);
    for (size_t first = 0; first < t.groups; first += kBlockGroups) {
      const size_t groups = t.groups - first < kBlockGroups ? t.groups - first : kBlockGroups;
      widen<kRows>(t, first, groups, a);
      first == 0 ? clear(sums) : load_sums(sums, tile_MW, kWidth);
      add_products<Words>(sums, a[0], 2 * kBlockGroups, panel + first * kWidth, kWidth, groups, [] {});
      store_sums(sums, tile_MW, kWidth);
    }
  }
};

}  // namespace
}  // namespace deberta
