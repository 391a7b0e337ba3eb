// Operations on one row, AVX-512. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/row_kernel.h"

namespace deberta {
namespace {

using Vector = __m512;
using Bits = __m512i;
constexpr size_t kLanes = 16;

struct All {};
struct Part {
  size_t count;  // lanes in use, below kLanes
  __mmask16 mask() const { return static_cast<__mmask16>((1u << count) - 1); }
};

inline Vector zero() {
  return _mm512_setzero_ps();
}
inline Vector broadcast(float x) {
  return _mm512_set1_ps(x);
}
inline Vector add(Vector a, Vector b) {
  return _mm512_add_ps(a, b);
}
inline Vector sub(Vector a, Vector b) {
  return _mm512_sub_ps(a, b);
}
inline Vector mul(Vector a, Vector b) {
  return _mm512_mul_ps(a, b);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline double square_root(double x) {
  return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}

inline Vector keep(Vector v, All) {
  return v;
}
inline Vector keep(Vector v, Part part) {  // zeros in the lanes beyond
  return _mm512_maskz_mov_ps(part.mask(), v);
}
inline Vector load(const float* p, All) {
  return _mm512_loadu_ps(p);
}
inline Vector load(const float* p, Part part) {
  return _mm512_maskz_loadu_ps(part.mask(), p);
}
inline void store(float* p, Vector v, All) {
  _mm512_storeu_ps(p, v);
}
inline void store(float* p, Vector v, Part part) {
  _mm512_mask_storeu_ps(p, part.mask(), v);
}

inline __m256i load_16(const uint16_t* p, All) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline __m256i load_16(const uint16_t* p, Part part) {
  return _mm256_maskz_loadu_epi16(part.mask(), p);
}
template <class Step>
inline Vector load_bf16(const uint16_t* p, Step part) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_16(p, part)), 16));
}
template <class Step>
inline Vector load_half(const uint16_t* p, Step part) {
  return _mm512_cvtph_ps(load_16(p, part));
}

inline __m256i to_bf16(Vector v) {
  const Bits bits = _mm512_castps_si512(v);
  const Bits upper = _mm512_srli_epi32(bits, 16);
  const Bits last = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const Bits rounded = _mm512_add_epi32(bits, _mm512_add_epi32(last, _mm512_set1_epi32(0x7FFF)));
  const Bits quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
  const __mmask16 is_nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(_mm512_srli_epi32(rounded, 16), is_nan, quiet));
}
inline void store_bf16(uint16_t* p, Vector v, All) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_bf16(v));
}
inline void store_bf16(uint16_t* p, Vector v, Part part) {
  _mm256_mask_storeu_epi16(p, part.mask(), to_bf16(v));
}

inline __m128i bytes_of(Vector v) {  // rint + 128, of -127 .. 127
  return _mm_xor_si128(_mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)), _mm_set1_epi8(static_cast<char>(0x80)));
}
inline void store_bytes(uint8_t* p, Vector v, All) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes_of(v));
}
inline void store_bytes(uint8_t* p, Vector v, Part part) {
  _mm_mask_storeu_epi8(p, part.mask(), bytes_of(v));
}

inline Bits no_bits() {
  return _mm512_setzero_si512();
}
inline Bits magnitude(Vector v) {
  return _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7FFFFFFF));
}
inline Bits max_bits(Bits a, Bits b) {
  return _mm512_max_epi32(a, b);
}
inline uint32_t max_lanes(Bits v) {
  __m256i half = _mm256_max_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  __m128i quarter = _mm_max_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  quarter = _mm_max_epi32(quarter, _mm_shuffle_epi32(quarter, 0x4E));
  quarter = _mm_max_epi32(quarter, _mm_shuffle_epi32(quarter, 0xB1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(quarter));
}
inline float sum_lanes(Vector v) {
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  quarter = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
  return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/row_operations.inc.h"

namespace deberta {
const RowKernel& row_operations_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
