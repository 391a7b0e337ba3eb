// Operations on one row, AVX2. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/row_kernel.h"

namespace deberta {
namespace {

using Vector = __m256;
using Bits = __m256i;
constexpr size_t kLanes = 8;

struct All {};
struct Part {
  size_t count;  // lanes in use, below kLanes
  Bits mask() const {
    const Bits lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lanes);
  }
};

inline Vector zero() {
  return _mm256_setzero_ps();
}
inline Vector broadcast(float x) {
  return _mm256_set1_ps(x);
}
inline Vector add(Vector a, Vector b) {
  return _mm256_add_ps(a, b);
}
inline Vector sub(Vector a, Vector b) {
  return _mm256_sub_ps(a, b);
}
inline Vector mul(Vector a, Vector b) {
  return _mm256_mul_ps(a, b);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline double square_root(double x) {
  return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}

inline Vector keep(Vector v, All) {
  return v;
}
inline Vector keep(Vector v, Part part) {  // zeros in the lanes beyond
  return _mm256_and_ps(v, _mm256_castsi256_ps(part.mask()));
}
inline Vector load(const float* p, All) {
  return _mm256_loadu_ps(p);
}
inline Vector load(const float* p, Part part) {
  return _mm256_maskload_ps(p, part.mask());
}
inline void store(float* p, Vector v, All) {
  _mm256_storeu_ps(p, v);
}
inline void store(float* p, Vector v, Part part) {
  _mm256_maskstore_ps(p, part.mask(), v);
}

inline __m128i load_16(const uint16_t* p, All) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline __m128i load_16(const uint16_t* p, Part part) {
  __m128i v = _mm_setzero_si128();
  __builtin_memcpy(&v, p, part.count * sizeof(uint16_t));
  return v;
}
template <class Step>
inline Vector load_bf16(const uint16_t* p, Step part) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_16(p, part)), 16));
}
template <class Step>
inline Vector load_half(const uint16_t* p, Step part) {
  return _mm256_cvtph_ps(load_16(p, part));
}

inline __m128i to_bf16(Vector v) {
  const Bits bits = _mm256_castps_si256(v);
  const Bits upper = _mm256_srli_epi32(bits, 16);
  const Bits last = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const Bits rounded = _mm256_add_epi32(bits, _mm256_add_epi32(last, _mm256_set1_epi32(0x7FFF)));
  const Bits quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const Bits is_nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  const Bits halves = _mm256_blendv_epi8(_mm256_srli_epi32(rounded, 16), quiet, is_nan);
  return _mm_packus_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
}
inline void store_bf16(uint16_t* p, Vector v, All) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), to_bf16(v));
}
inline void store_bf16(uint16_t* p, Vector v, Part part) {
  const __m128i halves = to_bf16(v);
  __builtin_memcpy(p, &halves, part.count * sizeof(uint16_t));
}

inline __m128i bytes_of(Vector v) {  // rint + 128, of -127 .. 127; in the low 8 bytes
  const Bits whole = _mm256_cvtps_epi32(v);
  const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  return _mm_xor_si128(_mm_packs_epi16(halves, halves), _mm_set1_epi8(static_cast<char>(0x80)));
}
inline void store_bytes(uint8_t* p, Vector v, All) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), bytes_of(v));
}
inline void store_bytes(uint8_t* p, Vector v, Part part) {
  const __m128i bytes = bytes_of(v);
  __builtin_memcpy(p, &bytes, part.count);
}

inline Bits no_bits() {
  return _mm256_setzero_si256();
}
inline Bits magnitude(Vector v) {
  return _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x7FFFFFFF));
}
inline Bits max_bits(Bits a, Bits b) {
  return _mm256_max_epi32(a, b);
}
inline uint32_t max_lanes(Bits v) {
  __m128i half = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4E));
  half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xB1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(half));
}
inline float sum_lanes(Vector v) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/row_operations.inc.h"

namespace deberta {
const RowKernel& row_operations_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
