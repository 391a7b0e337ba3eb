// int8 GEMM with AVX512_VNNI: tiles of 6 x 64. Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {

// As inline assembly: with the intrinsic, g++ 12 keeps an array of accumulators in memory.
inline void add_bytes(Vector& sum, Vector left, Vector right) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_avx512vnni_kernel() {
  return kKernelOf<InPlace<Bytes<add_bytes>>>;
}
}  // namespace deberta
