// int8 GEMM tile for AVX-512 without VNNI: 6 x 64, vpmaddwd on s16. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {

inline Vector dot(Vector sum, Vector a, Vector b) {
  const Bits products = _mm512_madd_epi16(_mm512_castps_si512(a), _mm512_castps_si512(b));
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(sum), products));
}
inline void widen_bytes(const uint8_t* from, int16_t* to) {
  _mm512_storeu_si512(to, _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)from)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_int8.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_avx512_kernel() {
  return kKernelOf<WidenedBytes>;
}
}  // namespace deberta
