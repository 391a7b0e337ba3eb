// int8 GEMM tile for AVX512-VNNI: 6 x 64, one vpdpbusd takes four k (u8 x s8, sums in int32). Only intrinsics, C
// headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"
// The rest stands on the vectors.
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
namespace {

struct Bytes {
  using Number = uint8_t;
  static constexpr size_t kPack = 4;
  static Vector broadcast(const uint8_t* a) { return broadcast_bits(a); }
  // As an instruction: g++ 12 keeps an array of accumulators in memory with the intrinsic.
  static void add(Vector& sum, Vector left, Vector right) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
  }
};

}  // namespace

const GemmKernel& gemm_avx512_vnni_kernel() {
  return kKernelOf<InPlace<Bytes>>;
}

}  // namespace deberta
