// fp32 GEMM tile, AVX-512: 6 x 64. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m512;
constexpr size_t kLanes = 16;
constexpr size_t kVectors = 4;

inline Vector zero() {
  return _mm512_setzero_ps();
}
inline Vector load(const float* p) {
  return _mm512_loadu_ps(p);
}
inline Vector broadcast(const float* p) {
  return _mm512_set1_ps(*p);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline void store(float* p, Vector v) {
  _mm512_storeu_ps(p, v);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_fp32.inc.h"

namespace deberta {
const GemmKernel& gemm_fp32_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
