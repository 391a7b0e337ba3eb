// Packing of weights, AVX-512. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {

inline Vector divide_or_zero(Vector a, Vector b) {
  return _mm512_maskz_div_ps(_mm512_cmp_ps_mask(b, _mm512_setzero_ps(), _CMP_NEQ_UQ), a, b);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_pack.inc.h"

namespace deberta {
const GemmPackKernel& gemm_pack_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
