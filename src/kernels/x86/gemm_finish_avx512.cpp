// The epilogue of GEMM, AVX-512. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m512;
constexpr size_t kLanes = 16;

inline Vector zero() {
  return _mm512_setzero_ps();
}
inline Vector all(float x) {
  return _mm512_set1_ps(x);
}
inline Vector load(const float* p) {
  return _mm512_loadu_ps(p);
}
inline void store(float* p, Vector v) {
  _mm512_storeu_ps(p, v);
}
inline Vector add(Vector a, Vector b) {
  return _mm512_add_ps(a, b);
}
inline Vector subtract(Vector a, Vector b) {
  return _mm512_sub_ps(a, b);
}
inline Vector mul(Vector a, Vector b) {
  return _mm512_mul_ps(a, b);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm512_fmadd_ps(a, b, c);
}
// NaN in a: b.
inline Vector maximum(Vector a, Vector b) {
  return _mm512_max_ps(a, b);
}
inline Vector absolute(Vector a) {
  return _mm512_abs_ps(a);
}
inline Vector round_to_whole(Vector a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Vector power_of_two(Vector whole) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(whole), _mm512_set1_epi32(127)), 23));
}
inline Vector add_as_float(const int32_t* a, const int32_t* b) {
  return _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
}
// To nearest, ties to even; NaN stays a quiet NaN.
inline void store_bf16(uint16_t* p, Vector v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const __mmask16 is_nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  const __m512i chosen = _mm512_mask_blend_epi32(is_nan, rounded, quiet);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(_mm512_srli_epi32(chosen, 16)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_finish.inc.h"

namespace deberta {
GemmFinishFunction gemm_finish_avx512() {
  return finish;
}
}  // namespace deberta
