// Eight floats in a register: the names in which the sources of kernels/x86 are written, for AVX2 and FMA. Included by
// files that have included <immintrin.h> and the C headers.
#include "kernels/x86/unroll.inc.h"

namespace deberta {
namespace {

using Vector = __m256;
using Mask = __m256;     // all bits of a lane
using Bits = __m256i;    // the lanes as integers
using Halves = __m128i;  // 16 bits a lane
constexpr size_t kLanes = 8;

inline Vector zero() {
  return _mm256_setzero_ps();
}
inline Vector load(const float* p) {
  return _mm256_loadu_ps(p);
}
inline void store(float* p, Vector v) {
  _mm256_storeu_ps(p, v);
}
inline Vector broadcast(const float* p) {
  return _mm256_broadcast_ss(p);
}
// 4 bytes of any type and alignment.
inline Vector broadcast_bits(const void* p) {
  int bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return _mm256_castsi256_ps(_mm256_set1_epi32(bits));
}
inline Vector all(float x) {
  return _mm256_set1_ps(x);
}
inline Vector add(Vector a, Vector b) {
  return _mm256_add_ps(a, b);
}
inline Vector subtract(Vector a, Vector b) {
  return _mm256_sub_ps(a, b);
}
inline Vector multiply(Vector a, Vector b) {
  return _mm256_mul_ps(a, b);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline Vector divide(Vector a, Vector b) {
  return _mm256_div_ps(a, b);
}
inline Vector absolute(Vector a) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
// The second operand when one is a NaN.
inline Vector max(Vector a, Vector b) {
  return _mm256_max_ps(a, b);
}
inline float largest(Vector v) {
  __m128 x = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  x = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}
inline float sum(Vector v) {
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

// Lane l is set when bit l is.
inline Mask to_mask(uint64_t bits) {
  const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i both = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits & 0xFF)), lane);
  return _mm256_castsi256_ps(_mm256_cmpeq_epi32(both, lane));
}
inline Mask is_negative(Vector v) {  // the sign bit: all that select() reads
  return v;
}
inline Vector select(Mask mask, Vector yes, Vector no) {
  return _mm256_blendv_ps(no, yes, mask);
}
// c where a is 0, else a b + c: what hides behind a probability of 0 is not looked at.
inline Vector fma_unless_zero(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, _mm256_and_ps(b, _mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_NEQ_UQ)), c);
}
// 2^n for the integer n in the low mantissa bits of `shifted`, which hold n + 127.
inline Vector power_of_two(Vector shifted) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(shifted), 23));
}
// Lane l becomes lane perm[l].
inline Vector permute(Vector v, const uint8_t* perm) {
  return _mm256_permutevar8x32_ps(v, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)perm)));
}

inline Halves load_halves(const uint16_t* p) {
  return _mm_loadu_si128((const __m128i*)p);
}
inline void store_halves(uint16_t* p, Halves halves) {
  _mm_storeu_si128((__m128i*)p, halves);
}
inline Vector from_bf16(Halves halves) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
// Rounds to nearest even; a NaN stays a quiet NaN.
inline Halves to_bf16(Vector v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256 chosen =
      _mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(quiet), _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const __m256i high = _mm256_srli_epi32(_mm256_castps_si256(chosen), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}
// Lane l: `low` in its low half, `high` in its high half.
inline Vector bf16_pairs(Halves low, Halves high) {
  const __m256i upper = _mm256_slli_epi32(_mm256_cvtepu16_epi32(high), 16);
  return _mm256_castsi256_ps(_mm256_or_si256(_mm256_cvtepu16_epi32(low), upper));
}
// The even and the odd numbers of bf16 pairs.
inline Vector low_bf16(Vector pairs) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs), 16));
}
inline Vector high_bf16(Vector pairs) {  // two shifts: a mask would take the last register of the GEMM tile
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_srli_epi32(_mm256_castps_si256(pairs), 16), 16));
}
// 32-bit lanes: sum + a b of both s16 of a pair.
inline Vector add_int16_pairs(Vector sum, Vector a, Vector b) {
  const Bits products = _mm256_madd_epi16(_mm256_castps_si256(a), _mm256_castps_si256(b));
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), products));
}
// 2 kLanes u8 to s16.
inline void widen_bytes(const uint8_t* from, int16_t* to) {
  _mm256_storeu_si256((__m256i*)to, _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i*)from)));
}
// Rounds numbers of -128 .. 127 to nearest even; the low kLanes bytes hold them.
inline __m128i to_int8(Vector v) {
  const Bits whole = _mm256_cvtps_epi32(v);
  const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  return _mm_packs_epi16(halves, halves);
}
inline void store_bytes(void* p, __m128i bytes) {
  _mm_storel_epi64((__m128i*)p, bytes);
}

// Four lanes of 64 bits.
inline Bits all_wide(uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}
inline Bits wide_from(uint64_t first) {
  return _mm256_add_epi64(all_wide(first), _mm256_setr_epi64x(0, 1, 2, 3));
}
// Multiplies the lower halves.
inline Bits wide_product(Bits a, Bits b) {
  return _mm256_mul_epu32(a, b);
}
inline Bits upper_halves(Bits x) {
  return _mm256_srli_epi64(x, 32);
}
// The lower halves of both.
inline Bits join_halves(Bits low, Bits high) {
  return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xAA);
}
inline Bits exclusive_or(Bits a, Bits b) {
  return _mm256_xor_si256(a, b);
}
// Bit b: byte b is at least `least`.
inline uint64_t bytes_from(uint32_t least, Bits bytes) {
  const Bits larger = _mm256_max_epu8(bytes, _mm256_set1_epi8(static_cast<char>(least)));
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(larger, bytes)));
}

// Lane l of r[q] becomes lane q of r[l].
inline void transpose(Vector (&r)[kLanes]) {
  Vector s[kLanes];
  DEBERTA_UNROLL
  for (size_t i = 0; i < kLanes; i += 2) {
    s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  DEBERTA_UNROLL
  for (size_t i = 0; i < kLanes; i += 4) {  // r[i + c]: column c of rows i .. i + 3, in each half
    r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xEE);
    r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xEE);
  }
  DEBERTA_UNROLL
  for (size_t c = 0; c < 4; ++c) {
    s[c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x20);
    s[4 + c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x31);
  }
  DEBERTA_UNROLL
  for (size_t c = 0; c < kLanes; ++c) r[c] = s[c];
}

}  // namespace
}  // namespace deberta
