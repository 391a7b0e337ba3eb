// The epilogue of GEMM, AVX2 and FMA. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

// The operands hold int32.
inline Vector add_as_float(Vector a, Vector b) {
  return _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_finish.inc.h"

namespace deberta {
namespace {
constexpr GemmFinishKernel kKernel = {.finish = finish};
}

const GemmFinishKernel& gemm_finish_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
