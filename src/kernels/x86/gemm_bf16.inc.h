// The bf16 tile without bf16 instructions, included by gemm_bf16_<isa>.cpp after it has defined Vector, kLanes,
// kVectors, fma, zero, store and low, high: fp32 vectors of the even and odd element of each pair of a panel's row, and
// broadcast_low, broadcast_high of a pair of A. Half the bytes of fp32, not half the time. The order of sums is that of
// k: even, then odd.
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
  const uint16_t* panel = static_cast<const uint16_t*>(t.panel);
  const uint16_t* a_MK = static_cast<const uint16_t*>(t.a_MK);
  for (size_t g = 0; g < t.groups; ++g, panel += 2 * kWidth) {
    Vector b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = low(panel + 2 * v * kLanes);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector a = broadcast_low(a_MK + m * t.a_stride + 2 * g);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) acc[m][v] = fma(a, b[v], acc[m][v]);
    }
    // Read again: a compiler that keeps the pairs for the odd elements has no register left for the sums.
    const uint16_t* panel_again = panel;
    const uint16_t* a_again = a_MK;
    __asm__("" : "+r"(panel_again), "+r"(a_again));
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = high(panel_again + 2 * v * kLanes);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector a = broadcast_high(a_again + m * t.a_stride + 2 * g);
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

constexpr GemmKernel kKernel = {kWidth, 1, 2, 2, 6, 96, 64, nullptr, nullptr, tile};

}  // namespace
}  // namespace deberta
