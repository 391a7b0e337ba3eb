// int8 GEMM with AVX-VNNI, for processors without AVX-512: tiles of 6 x 16. Only intrinsics, C headers and types here
// (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {

// The prefix asks for the form that does not need AVX-512.
inline void add_bytes(Vector& sum, Vector left, Vector right) {
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(left), "x"(right));
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
const GemmKernel& gemm_int8_avxvnni_kernel() {
  return kKernelOf<InPlace<Bytes<add_bytes>>>;
}
}  // namespace deberta
