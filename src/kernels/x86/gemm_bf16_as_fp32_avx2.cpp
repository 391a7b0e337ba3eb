// bf16 GEMM with AVX2 and FMA: tiles of 6 x 16, widened to fp32. Only intrinsics, C headers and types here
// (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"
// The rest builds on the vectors.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
const GemmKernel& gemm_bf16_as_fp32_avx2_kernel() {
  return kKernelOf<Bf16AsFp32>;
}
}  // namespace deberta
