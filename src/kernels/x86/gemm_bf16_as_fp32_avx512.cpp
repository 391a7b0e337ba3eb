// bf16 GEMM with AVX-512, without its BF16: tiles of 6 x 64, widened to fp32. Only intrinsics, C headers and types here
// (docs/concepts/kernels.md). Needs a flag of its own (cmake/isa.cmake).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"
// The rest builds on the vectors.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
const GemmKernel& gemm_bf16_as_fp32_avx512_kernel() {
  return kKernelOf<Bf16AsFp32>;
}
}  // namespace deberta
