// bf16 GEMM with AVX512_BF16: tiles of 6 x 64, one vdpbf16ps takes a pair of k. Only intrinsics, C headers and types
// here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"
// The rest builds on the vectors.
#include "kernels/x86/gemm_tile.inc.h"
#include "kernels/x86/register_tile_bf16.inc.h"

namespace deberta {
const GemmKernel& gemm_bf16_avx512bf16_kernel() {
  return kKernelOf<InPlace<Bf16Pairs>>;
}
}  // namespace deberta
