// fp32 GEMM tile, AVX2 and FMA: 6 x 16. Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>

#include "kernels/gemm_kernel.h"

namespace deberta {
namespace {

using Vector = __m256;
constexpr size_t kLanes = 8;
constexpr size_t kVectors = 2;

inline Vector zero() {
  return _mm256_setzero_ps();
}
inline Vector load(const float* p) {
  return _mm256_loadu_ps(p);
}
inline Vector broadcast(const float* p) {
  return _mm256_broadcast_ss(p);
}
inline Vector fma(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline void store(float* p, Vector v) {
  _mm256_storeu_ps(p, v);
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_fp32.inc.h"

namespace deberta {
const GemmKernel& gemm_fp32_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
