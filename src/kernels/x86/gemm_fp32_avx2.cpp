// fp32 GEMM with AVX2 and FMA: tiles of 6 x 16. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"
// The rest builds on the vectors.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
const GemmKernel& gemm_fp32_avx2_kernel() {
  return kKernelOf<InPlace<Fp32>>;
}
}  // namespace deberta
