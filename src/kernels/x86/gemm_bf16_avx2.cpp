// bf16 GEMM tile for AVX2 and FMA: 6 x 16, widened to fp32. Only intrinsics, C headers and types here
// (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

inline Vector low(Vector pairs) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs), 16));
}
// Two shifts: a mask would take the last register.
inline Vector high(Vector pairs) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_srli_epi32(_mm256_castps_si256(pairs), 16), 16));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_bf16.inc.h"

namespace deberta {
const GemmKernel& gemm_bf16_avx2_kernel() {
  return kKernelOf<WidenedPairs>;
}
}  // namespace deberta
