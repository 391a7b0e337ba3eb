// The int8 tile without VNNI, included by gemm_int8_<isa>.cpp after it has defined Vector, kLanes, kVectors, load,
// broadcast (of 32 bits), dot (sum += madd of s16 pairs), store. Weights lie as s16 pairs; A's bytes are widened to s16
// in blocks of k. madd of s16 cannot overflow here (maddubs of u8 and s8 would saturate), so the sums are those of
// VNNI.
#include "kernels/x86/unroll.inc.h"

namespace deberta {
namespace {

constexpr size_t kWidth = kVectors * kLanes;
constexpr size_t kBlockGroups = 256;

template <size_t kRows>
void widen(const GemmTile& t, size_t first, size_t groups, int16_t (*a)[2 * kBlockGroups]) {
  for (size_t m = 0; m < kRows; ++m) {
    const uint8_t* a_K = static_cast<const uint8_t*>(t.a_MK) + m * t.a_stride + 2 * first;
    for (size_t k = 0; k < 2 * groups; ++k) a[m][k] = a_K[k];
  }
}

template <size_t kRows>
void add_block(const int16_t* panel, size_t groups, const int16_t (*a)[2 * kBlockGroups], int32_t* tile_MW) {
  Vector acc[kRows][kVectors];
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) acc[m][v] = load(tile_MW + m * kWidth + v * kLanes);
  }
  for (size_t g = 0; g < groups; ++g, panel += 2 * kWidth) {
    Vector b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = load(panel + 2 * v * kLanes);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector pair = broadcast(a[m] + 2 * g);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) dot(acc[m][v], pair, b[v]);
    }
  }
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) store(tile_MW + m * kWidth + v * kLanes, acc[m][v]);
  }
}

template <size_t kRows>
void tile_rows(const GemmTile& t) {
  int16_t a[kRows][2 * kBlockGroups];
  int32_t* tile_MW = static_cast<int32_t*>(t.tile_MW);
  for (size_t i = 0; i < kRows * kWidth; ++i) tile_MW[i] = 0;
  const int16_t* panel = static_cast<const int16_t*>(t.panel);
  for (size_t first = 0; first < t.groups; first += kBlockGroups) {
    const size_t groups = t.groups - first < kBlockGroups ? t.groups - first : kBlockGroups;
    widen<kRows>(t, first, groups, a);
    add_block<kRows>(panel + first * 2 * kWidth, groups, a, tile_MW);
  }
}

DEBERTA_TILE_OF_ROWS(tile_rows)

constexpr GemmKernel kKernel = {kWidth, 1, 2, 4, 6, 96, 64, nullptr, nullptr, tile};

}  // namespace
}  // namespace deberta
