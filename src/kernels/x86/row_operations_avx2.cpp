// Operations on one row, AVX2. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/row_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

struct All {};
struct Part {
  size_t count;  // lanes in use, below kLanes
  Bits mask() const {
    const Bits lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lanes);
  }
};

inline Vector keep(Vector v, Part part) {  // zeros in the lanes beyond
  return _mm256_and_ps(v, _mm256_castsi256_ps(part.mask()));
}
inline Vector load(const float* p, Part part) {
  return _mm256_maskload_ps(p, part.mask());
}
inline void store(float* p, Vector v, Part part) {
  _mm256_maskstore_ps(p, part.mask(), v);
}

inline Halves load_halves(const uint16_t* p, Part part) {
  Halves v = _mm_setzero_si128();
  __builtin_memcpy(&v, p, part.count * sizeof(uint16_t));
  return v;
}
inline Vector from_half(Halves halves) {
  return _mm256_cvtph_ps(halves);
}

inline void store_halves(uint16_t* p, Halves halves, Part part) {
  __builtin_memcpy(p, &halves, part.count * sizeof(uint16_t));
}

inline void store_bytes(uint8_t* p, __m128i bytes, Part part) {
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

}  // namespace
}  // namespace deberta

#include "kernels/x86/row_operations.inc.h"

namespace deberta {
const RowKernel& row_operations_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
