// Sixteen floats in a register: the names in which the sources of kernels/x86 are written, for AVX-512. Included by
// files that have included <immintrin.h> and the C headers.
#include "kernels/x86/unroll.inc.h"

namespace deberta {
namespace {

using Vector = __m512;
using Mask = __mmask16;
using Bits = __m512i;    // the lanes as integers
using Halves = __m256i;  // 16 bits a lane
constexpr size_t kLanes = 16;

inline Vector zero() {
  return _mm512_setzero_ps();
}
inline Vector load(const float* p) {
  return _mm512_loadu_ps(p);
}
inline void store(float* p, Vector v) {
  _mm512_storeu_ps(p, v);
}
inline Vector broadcast(const float* p) {
  return _mm512_set1_ps(*p);
}
// 4 bytes of any type and alignment.
inline Vector broadcast_bits(const void* p) {
  int bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return _mm512_castsi512_ps(_mm512_set1_epi32(bits));
}
inline Vector all(float x) {
  return _mm512_set1_ps(x);
}
inline Vector add(Vector a, Vector b) {
  return _mm512_add_ps(a, b);
}
inline Vector subtract(Vector a, Vector b) {
  return _mm512_sub_ps(a, b);
}
inline Vector multiply(Vector a, Vector b) {
  return _mm512_mul_ps(a, b);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline Vector divide(Vector a, Vector b) {
  return _mm512_div_ps(a, b);
}
inline Vector absolute(Vector a) {
  return _mm512_abs_ps(a);
}
// The second operand when one is a NaN.
inline Vector max(Vector a, Vector b) {
  return _mm512_max_ps(a, b);
}
inline float largest(Vector v) {
  return _mm512_reduce_max_ps(v);
}
inline float sum(Vector v) {  // in one order, whatever the compiler
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

// Lane l is set when bit l is.
inline Mask to_mask(uint64_t bits) {
  return static_cast<Mask>(bits);
}
inline Mask is_negative(Vector v) {  // the sign bit
  return _mm512_movepi32_mask(_mm512_castps_si512(v));
}
inline Vector select(Mask mask, Vector yes, Vector no) {
  return _mm512_mask_blend_ps(mask, no, yes);
}
// c where a is 0, else a b + c: what hides behind a probability of 0 is not looked at.
inline Vector fma_unless_zero(Vector a, Vector b, Vector c) {
  return _mm512_mask3_fmadd_ps(a, b, c, _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_NEQ_UQ));
}
// 2^n for the integer n in the low mantissa bits of `shifted`, which hold n + 127.
inline Vector power_of_two(Vector shifted) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(shifted), 23));
}
// Lane l becomes lane perm[l].
inline Vector permute(Vector v, const uint8_t* perm) {
  return _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)perm)), v);
}

inline Halves load_halves(const uint16_t* p) {
  return _mm256_loadu_si256((const __m256i*)p);
}
inline void store_halves(uint16_t* p, Halves halves) {
  _mm256_storeu_si256((__m256i*)p, halves);
}
inline Vector from_bf16(Halves halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
// Rounds to nearest even; a NaN stays a quiet NaN.
inline Halves to_bf16(Vector v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const __m512i chosen = _mm512_mask_blend_epi32(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), rounded, quiet);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(chosen, 16));
}
// Lane l: `low` in its low half, `high` in its high half.
inline Vector bf16_pairs(Halves low, Halves high) {
  const __m512i upper = _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16);
  return _mm512_castsi512_ps(_mm512_or_si512(_mm512_cvtepu16_epi32(low), upper));
}
// The even and the odd numbers of bf16 pairs.
inline Vector low_bf16(Vector pairs) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs), 16));
}
inline Vector high_bf16(Vector pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi32(-65536)));
}
// 32-bit lanes: sum + a b of both s16 of a pair.
inline Vector add_int16_pairs(Vector sum, Vector a, Vector b) {
  const Bits products = _mm512_madd_epi16(_mm512_castps_si512(a), _mm512_castps_si512(b));
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(sum), products));
}
// 2 kLanes u8 to s16.
inline void widen_bytes(const uint8_t* from, int16_t* to) {
  _mm512_storeu_si512(to, _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)from)));
}
// Rounds numbers of -128 .. 127 to nearest even; the low kLanes bytes hold them.
inline __m128i to_int8(Vector v) {
  return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v));
}
inline void store_bytes(void* p, __m128i bytes) {
  _mm_storeu_si128((__m128i*)p, bytes);
}

// Eight lanes of 64 bits.
inline Bits all_wide(uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}
inline Bits wide_from(uint64_t first) {
  return _mm512_add_epi64(all_wide(first), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
}
// Multiplies the lower halves.
inline Bits wide_product(Bits a, Bits b) {
  return _mm512_mul_epu32(a, b);
}
inline Bits upper_halves(Bits x) {
  return _mm512_srli_epi64(x, 32);
}
// The lower halves of both.
inline Bits join_halves(Bits low, Bits high) {
  return _mm512_mask_blend_epi32(0xAAAA, low, _mm512_slli_epi64(high, 32));
}
inline Bits exclusive_or(Bits a, Bits b) {
  return _mm512_xor_si512(a, b);
}
// Bit b: byte b is at least `least`.
inline uint64_t bytes_from(uint32_t least, Bits bytes) {
  return _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(static_cast<char>(least)));
}

inline Vector low_pairs(Vector a, Vector b) {
  return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}
inline Vector high_pairs(Vector a, Vector b) {
  return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

// Lane l of r[q] becomes lane q of r[l].
inline void transpose(Vector (&r)[kLanes]) {
  Vector s[kLanes];
  DEBERTA_UNROLL
  for (size_t i = 0; i < kLanes; i += 2) {
    s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
  DEBERTA_UNROLL
  for (size_t i = 0; i < kLanes; i += 4) {  // r[i + c]: column c of rows i .. i + 3, in each quarter
    r[i] = low_pairs(s[i], s[i + 2]);
    r[i + 1] = high_pairs(s[i], s[i + 2]);
    r[i + 2] = low_pairs(s[i + 1], s[i + 3]);
    r[i + 3] = high_pairs(s[i + 1], s[i + 3]);
  }
  DEBERTA_UNROLL
  for (size_t c = 0; c < 4; ++c) {
    s[c] = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88);
    s[4 + c] = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xDD);
    s[8 + c] = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88);
    s[12 + c] = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xDD);
  }
  DEBERTA_UNROLL
  for (size_t c = 0; c < 4; ++c) {
    r[c] = _mm512_shuffle_f32x4(s[c], s[8 + c], 0x88);
    r[8 + c] = _mm512_shuffle_f32x4(s[c], s[8 + c], 0xDD);
    r[4 + c] = _mm512_shuffle_f32x4(s[4 + c], s[12 + c], 0x88);
    r[12 + c] = _mm512_shuffle_f32x4(s[4 + c], s[12 + c], 0xDD);
  }
}

}  // namespace
}  // namespace deberta
