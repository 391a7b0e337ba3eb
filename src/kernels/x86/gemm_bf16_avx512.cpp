// bf16 GEMM tile for AVX-512 without BF16: 6 x 64, widened to fp32. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {

inline Vector low(Vector pairs) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs), 16));
}
inline Vector high(Vector pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi32(-65536)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_bf16.inc.h"

namespace deberta {
const GemmKernel& gemm_bf16_avx512_kernel() {
  return kKernelOf<WidenedPairs>;
}
}  // namespace deberta
