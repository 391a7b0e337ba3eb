// int8 GEMM tile for AVX512-VNNI: 6 x 64, one vpdpbusd takes four k (u8 x s8, sums in int32). Only intrinsics, C
// headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/unroll.inc.h"

namespace deberta {
namespace {

constexpr size_t kVectors = 4;
constexpr size_t kWidth = 16 * kVectors;

inline __m512i load_fours(const uint8_t* p) {
  return _mm512_loadu_si512(p);
}
inline __m512i broadcast_four(const uint8_t* p) {
  int four;
  memcpy(&four, p, sizeof four);
  return _mm512_set1_epi32(four);
}

// As an instruction: g++ 12 keeps an array of accumulators in memory with the intrinsic.
inline void dot(__m512i& sum, __m512i a, __m512i b) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}

template <size_t kRows>
void tile_rows(const GemmTile& t) {
  __m512i acc[kRows][kVectors];
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) acc[m][v] = _mm512_setzero_si512();
  }
  const uint8_t* panel = static_cast<const uint8_t*>(t.panel);
  const uint8_t* a_MK = static_cast<const uint8_t*>(t.a_MK);
  const char* next = static_cast<const char*>(t.next);
  const size_t step = t.next_bytes / t.groups;
  for (size_t g = 0; g < t.groups; ++g, panel += 4 * kWidth, next += step) {
    __builtin_prefetch(next, 0, 2);
    __m512i b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = load_fours(panel + 64 * v);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const __m512i a = broadcast_four(a_MK + m * t.a_stride + 4 * g);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) dot(acc[m][v], a, b[v]);
    }
  }
  int32_t* tile_MW = static_cast<int32_t*>(t.tile_MW);
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) _mm512_storeu_si512(tile_MW + m * kWidth + 16 * v, acc[m][v]);
  }
}

DEBERTA_TILE_OF_ROWS(tile_rows)

constexpr GemmKernel kKernel = {kWidth, 1, 4, 4, 6, 96, 64, nullptr, nullptr, tile};

}  // namespace

const GemmKernel& gemm_avx512_vnni_kernel() {
  return kKernel;
}

}  // namespace deberta
