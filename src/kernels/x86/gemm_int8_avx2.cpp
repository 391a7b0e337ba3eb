// int8 GEMM tile for AVX2: 6 x 16, vpmaddwd on s16. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m256i;
constexpr size_t kLanes = 8;
constexpr size_t kVectors = 2;

inline Vector load(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
inline Vector broadcast(const int16_t* p) {
  int pair;
  memcpy(&pair, p, sizeof pair);
  return _mm256_set1_epi32(pair);
}
inline void dot(Vector& sum, Vector a, Vector b) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
inline void store(void* p, Vector v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_int8.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
