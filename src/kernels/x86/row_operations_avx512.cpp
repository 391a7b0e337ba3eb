// Operations on one row, AVX-512. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/row_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {

struct All {};
struct Part {
  size_t count;  // lanes in use, below kLanes
  __mmask16 mask() const { return static_cast<__mmask16>((1u << count) - 1); }
};

inline Vector keep(Vector v, Part part) {  // zeros in the lanes beyond
  return _mm512_maskz_mov_ps(part.mask(), v);
}
inline Vector load(const float* p, Part part) {
  return _mm512_maskz_loadu_ps(part.mask(), p);
}
inline void store(float* p, Vector v, Part part) {
  _mm512_mask_storeu_ps(p, part.mask(), v);
}

inline Halves load_halves(const uint16_t* p, Part part) {
  return _mm256_maskz_loadu_epi16(part.mask(), p);
}
inline Vector from_half(Halves halves) {
  return _mm512_cvtph_ps(halves);
}

inline void store_halves(uint16_t* p, Halves halves, Part part) {
  _mm256_mask_storeu_epi16(p, part.mask(), halves);
}

inline void store_bytes(uint8_t* p, __m128i bytes, Part part) {
  _mm_mask_storeu_epi8(p, part.mask(), bytes);
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

}  // namespace
}  // namespace deberta

#include "kernels/x86/row_operations.inc.h"

namespace deberta {
const RowKernel& row_operations_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
