// int8 GEMM with AVX2: tiles of 6 x 16, widened to s16 for vpmaddwd. Only intrinsics, C headers and types here
// (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"
// The rest builds on the vectors.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_as_int16_avx2_kernel() {
  return kKernelOf<Int8AsInt16>;
}
}  // namespace deberta
