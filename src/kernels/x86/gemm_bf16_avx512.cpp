// bf16 GEMM tile for AVX-512 without BF16: 6 x 64, widened to fp32. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m512;
constexpr size_t kLanes = 16;
constexpr size_t kVectors = 4;

inline Vector zero() {
  return _mm512_setzero_ps();
}
inline Vector low(const uint16_t* pairs) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(pairs), 16));
}
inline Vector high(const uint16_t* pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(pairs), _mm512_set1_epi32(-65536)));
}
inline uint32_t pair_at(const uint16_t* a) {
  uint32_t pair;
  memcpy(&pair, a, sizeof pair);
  return pair;
}
inline Vector broadcast_low(const uint16_t* a) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_set1_epi32(static_cast<int>(pair_at(a))), 16));
}
inline Vector broadcast_high(const uint16_t* a) {
  return _mm512_castsi512_ps(
      _mm512_and_si512(_mm512_set1_epi32(static_cast<int>(pair_at(a))), _mm512_set1_epi32(-65536)));
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline void store(float* p, Vector v) {
  _mm512_storeu_ps(p, v);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_bf16.inc.h"

namespace deberta {
const GemmKernel& gemm_bf16_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
