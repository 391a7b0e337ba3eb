// int8 GEMM with AVX-512, without its VNNI: tiles of 6 x 64, widened to s16 for vpmaddwd. Only intrinsics, C headers
// and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"
// The rest builds on the vectors.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_as_int16_avx512_kernel() {
  return kKernelOf<Int8AsInt16>;
}
}  // namespace deberta
