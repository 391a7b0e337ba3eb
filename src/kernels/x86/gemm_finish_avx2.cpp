// The epilogue of GEMM, AVX2 and FMA. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m256;
constexpr size_t kLanes = 8;

inline Vector zero() {
  return _mm256_setzero_ps();
}
inline Vector all(float x) {
  return _mm256_set1_ps(x);
}
inline Vector load(const float* p) {
  return _mm256_loadu_ps(p);
}
inline void store(float* p, Vector v) {
  _mm256_storeu_ps(p, v);
}
inline Vector add(Vector a, Vector b) {
  return _mm256_add_ps(a, b);
}
inline Vector subtract(Vector a, Vector b) {
  return _mm256_sub_ps(a, b);
}
inline Vector mul(Vector a, Vector b) {
  return _mm256_mul_ps(a, b);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, b, c);
}
// NaN in a: b.
inline Vector maximum(Vector a, Vector b) {
  return _mm256_max_ps(a, b);
}
inline Vector absolute(Vector a) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
inline Vector round_to_whole(Vector a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Vector power_of_two(Vector whole) {
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127)), 23));
}
inline __m256i load_ints(const int32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline Vector add_as_float(const int32_t* a, const int32_t* b) {
  return _mm256_cvtepi32_ps(_mm256_add_epi32(load_ints(a), load_ints(b)));
}
// To nearest, ties to even; NaN stays a quiet NaN.
inline void store_bf16(uint16_t* p, Vector v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const __m256i chosen = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(chosen, chosen), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_finish.inc.h"

namespace deberta {
GemmFinishFunction gemm_finish_avx2() {
  return finish;
}
}  // namespace deberta
