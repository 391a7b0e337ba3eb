// Packing of weights, AVX2. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

inline Vector divide(Vector a, Vector b) {
  return _mm256_div_ps(a, b);
}
inline Vector divide_or_zero(Vector a, Vector b) {
  return _mm256_and_ps(_mm256_cmp_ps(b, _mm256_setzero_ps(), _CMP_NEQ_UQ), _mm256_div_ps(a, b));
}
inline Vector absolute(Vector a) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
inline void store_int8(int8_t* p, Vector v) {
  const __m256i wide = _mm256_cvtps_epi32(v);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_pack.inc.h"

namespace deberta {
const GemmPackKernel& gemm_pack_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
