// int8 GEMM tile for AVX-VNNI, the one of processors without AVX-512: 6 x 16, one vpdpbusd takes four k (u8 x s8, sums
// in int32). Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"
// The rest stands on the vectors.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
namespace {

struct Bytes {
  using Number = uint8_t;
  static constexpr size_t kPack = 4;
  static Vector broadcast(const uint8_t* a) { return broadcast_bits(a); }
  // The prefix asks for the form that does not need AVX-512.
  static void add(Vector& sum, Vector left, Vector right) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(left), "x"(right));
  }
};

}  // namespace

const GemmKernel& gemm_int8_avxvnni_kernel() {
  return kKernelOf<InPlace<Bytes>>;
}

}  // namespace deberta
