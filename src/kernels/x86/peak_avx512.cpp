// The peak of AVX-512: 24 chains of fused multiply-adds of 16 lanes, all in registers. One block of assembly, so that
// no compiler can leave anything out. Only C headers and types here (docs/kernels.md).
#include <stddef.h>

#include "kernels/peak_kernel.h"

namespace deberta {
namespace {

void run(size_t rounds) {
  __asm__ volatile(
      "vpxorq %%zmm0, %%zmm0, %%zmm0\n"
      "vpxorq %%zmm1, %%zmm1, %%zmm1\n"
      "vpxorq %%zmm2, %%zmm2, %%zmm2\n"
      "vpxorq %%zmm3, %%zmm3, %%zmm3\n"
      "vpxorq %%zmm4, %%zmm4, %%zmm4\n"
      "vpxorq %%zmm5, %%zmm5, %%zmm5\n"
      "vpxorq %%zmm6, %%zmm6, %%zmm6\n"
      "vpxorq %%zmm7, %%zmm7, %%zmm7\n"
      "vpxorq %%zmm8, %%zmm8, %%zmm8\n"
      "vpxorq %%zmm9, %%zmm9, %%zmm9\n"
      "vpxorq %%zmm10, %%zmm10, %%zmm10\n"
      "vpxorq %%zmm11, %%zmm11, %%zmm11\n"
      "vpxorq %%zmm12, %%zmm12, %%zmm12\n"
      "vpxorq %%zmm13, %%zmm13, %%zmm13\n"
      "vpxorq %%zmm14, %%zmm14, %%zmm14\n"
      "vpxorq %%zmm15, %%zmm15, %%zmm15\n"
      "vpxorq %%zmm16, %%zmm16, %%zmm16\n"
      "vpxorq %%zmm17, %%zmm17, %%zmm17\n"
      "vpxorq %%zmm18, %%zmm18, %%zmm18\n"
      "vpxorq %%zmm19, %%zmm19, %%zmm19\n"
      "vpxorq %%zmm20, %%zmm20, %%zmm20\n"
      "vpxorq %%zmm21, %%zmm21, %%zmm21\n"
      "vpxorq %%zmm22, %%zmm22, %%zmm22\n"
      "vpxorq %%zmm23, %%zmm23, %%zmm23\n"
      "vpxorq %%zmm30, %%zmm30, %%zmm30\n"
      "vpxorq %%zmm31, %%zmm31, %%zmm31\n"
      "1:\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm0\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm1\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm2\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm3\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm4\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm5\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm6\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm7\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm8\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm9\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm10\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm11\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm12\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm13\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm14\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm15\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm16\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm17\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm18\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm19\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm20\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm21\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm22\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm23\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(rounds)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm30",
        "xmm31");
}

constexpr PeakKernel kKernel = {24 * 32, run};

}  // namespace

const PeakKernel& peak_avx512_kernel() {
  return kKernel;
}

}  // namespace deberta
