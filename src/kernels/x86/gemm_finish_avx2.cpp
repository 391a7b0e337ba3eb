// The epilogue of GEMM, AVX2 and FMA. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

inline Bits load_ints(const int32_t* p) {
  return _mm256_loadu_si256((const __m256i*)p);
}
inline Vector add_as_float(const int32_t* a, const int32_t* b) {
  return _mm256_cvtepi32_ps(_mm256_add_epi32(load_ints(a), load_ints(b)));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_finish.inc.h"

namespace deberta {
GemmFinishFunction gemm_finish_avx2() {
  return finish;
}
}  // namespace deberta
