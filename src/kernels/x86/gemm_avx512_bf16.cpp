// bf16 GEMM tile for AVX512-BF16: 6 x 64, one vdpbf16ps takes a pair of k. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/unroll.inc.h"

namespace deberta {
namespace {

constexpr size_t kVectors = 4;
constexpr size_t kWidth = 16 * kVectors;

inline __m512bh load_pairs(const uint16_t* p) {
  return (__m512bh)_mm512_loadu_si512(p);
}
inline __m512bh broadcast_pair(const uint16_t* p) {
  int pair;
  memcpy(&pair, p, sizeof pair);
  return (__m512bh)_mm512_set1_epi32(pair);
}

template <size_t kRows>
void tile_rows(const GemmTile& t) {
  __m512 acc[kRows][kVectors];
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) acc[m][v] = _mm512_setzero_ps();
  }
  const uint16_t* panel = static_cast<const uint16_t*>(t.panel);
  const uint16_t* a_MK = static_cast<const uint16_t*>(t.a_MK);
  const char* next = static_cast<const char*>(t.next);
  const size_t step = t.next_bytes / t.groups;
  for (size_t g = 0; g < t.groups; ++g, panel += 2 * kWidth, next += step) {
    __builtin_prefetch(next, 0, 2);
    __m512bh b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = load_pairs(panel + 32 * v);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const __m512bh a = broadcast_pair(a_MK + m * t.a_stride + 2 * g);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) acc[m][v] = _mm512_dpbf16_ps(acc[m][v], a, b[v]);
    }
  }
  float* tile_MW = static_cast<float*>(t.tile_MW);
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) _mm512_storeu_ps(tile_MW + m * kWidth + 16 * v, acc[m][v]);
  }
}

DEBERTA_TILE_OF_ROWS(tile_rows)

constexpr GemmKernel kKernel = {kWidth, 1, 2, 2, 6, 96, 64, nullptr, nullptr, tile};

}  // namespace

const GemmKernel& gemm_avx512_bf16_kernel() {
  return kKernel;
}

}  // namespace deberta
