// The fp32 tile, included by gemm_fp32_<isa>.cpp after it has defined Vector, kLanes, kVectors, load, broadcast, fma,
// zero, store. A tile is rows x (kVectors * kLanes) accumulators in registers; one broadcast of A feeds kVectors fmas.
// 6 x 64 with AVX-512: 24 accumulators + 4 of the panel + 1 of 32 registers; 6 x 16 with AVX2: 12 + 2 + 1 of 16.
// Traffic per step of k: kVectors loads from the panel (streams from L2 or L3), 6 broadcasts from A (L1).
#include "kernels/x86/unroll.inc.h"

namespace deberta {
namespace {

constexpr size_t kWidth = kVectors * kLanes;

template <size_t kRows>
void tile_rows(const GemmTile& t) {
  Vector acc[kRows][kVectors];
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) acc[m][v] = zero();
  }
  const float* panel = static_cast<const float*>(t.panel);
  const float* a_MK = static_cast<const float*>(t.a_MK);
  const char* next = static_cast<const char*>(t.next);
  const size_t step = t.next_bytes / t.groups;
  for (size_t k = 0; k < t.groups; ++k, panel += kWidth, next += step) {
    __builtin_prefetch(next, 0, 2);
    Vector b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = load(panel + v * kLanes);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector a = broadcast(a_MK + m * t.a_stride + k);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) acc[m][v] = fma(a, b[v], acc[m][v]);
    }
  }
  float* tile_MW = static_cast<float*>(t.tile_MW);
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) store(tile_MW + m * kWidth + v * kLanes, acc[m][v]);
  }
}

DEBERTA_TILE_OF_ROWS(tile_rows)

constexpr GemmKernel kKernel = {kWidth, 1, 1, 1, 6, 96, 64, nullptr, nullptr, tile};

}  // namespace
}  // namespace deberta
