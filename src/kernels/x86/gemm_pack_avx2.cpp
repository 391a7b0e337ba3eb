// Packing of weights, AVX2. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

inline Vector divide_or_zero(Vector a, Vector b) {
  return _mm256_and_ps(_mm256_cmp_ps(b, _mm256_setzero_ps(), _CMP_NEQ_UQ), _mm256_div_ps(a, b));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_pack.inc.h"

namespace deberta {
const GemmPackKernel& gemm_pack_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
