// int8 GEMM tile for AVX-512 without VNNI: 6 x 64, vpmaddwd on s16. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m512i;
constexpr size_t kLanes = 16;
constexpr size_t kVectors = 4;

inline Vector load(const void* p) {
  return _mm512_loadu_si512(p);
}
inline Vector broadcast(const int16_t* p) {
  int pair;
  memcpy(&pair, p, sizeof pair);
  return _mm512_set1_epi32(pair);
}
inline void dot(Vector& sum, Vector a, Vector b) {
  sum = _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
inline void store(void* p, Vector v) {
  _mm512_storeu_si512(p, v);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_int8.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
