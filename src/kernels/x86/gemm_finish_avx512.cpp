// The epilogue of GEMM, AVX-512. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {

// The operands hold int32.
inline Vector add_as_float(Vector a, Vector b) {
  return _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_finish.inc.h"

namespace deberta {
namespace {
constexpr GemmFinishKernel kKernel = {.finish = finish};
}

const GemmFinishKernel& gemm_finish_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
