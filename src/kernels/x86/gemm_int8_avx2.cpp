// int8 GEMM tile for AVX2: 6 x 16, vpmaddwd on s16. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

inline Vector dot(Vector sum, Vector a, Vector b) {
  const Bits products = _mm256_madd_epi16(_mm256_castps_si256(a), _mm256_castps_si256(b));
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), products));
}
inline void widen_bytes(const uint8_t* from, int16_t* to) {
  _mm256_storeu_si256((__m256i*)to, _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i*)from)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_int8.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_avx2_kernel() {
  return kKernelOf<WidenedBytes>;
}
}  // namespace deberta
