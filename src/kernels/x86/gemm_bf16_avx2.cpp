// bf16 GEMM tile for AVX2 and FMA: 6 x 16, widened to fp32. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m256;
constexpr size_t kLanes = 8;
constexpr size_t kVectors = 2;

inline Vector zero() {
  return _mm256_setzero_ps();
}
inline Vector low(const uint16_t* pairs) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs)), 16));
}
// Two shifts: a mask would take the last register.
inline __m256i upper(__m256i pairs) {
  return _mm256_slli_epi32(_mm256_srli_epi32(pairs, 16), 16);
}
inline Vector high(const uint16_t* pairs) {
  return _mm256_castsi256_ps(upper(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs))));
}
inline uint32_t pair_at(const uint16_t* a) {
  uint32_t pair;
  memcpy(&pair, a, sizeof pair);
  return pair;
}
inline Vector broadcast_low(const uint16_t* a) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_set1_epi32(static_cast<int>(pair_at(a))), 16));
}
inline Vector broadcast_high(const uint16_t* a) {
  return _mm256_castsi256_ps(upper(_mm256_set1_epi32(static_cast<int>(pair_at(a)))));
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline void store(float* p, Vector v) {
  _mm256_storeu_ps(p, v);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_bf16.inc.h"

namespace deberta {
const GemmKernel& gemm_bf16_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
