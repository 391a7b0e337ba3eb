// The peak of AVX-VNNI: 12 chains of products of 32 bytes. Only C headers and types here (docs/kernels.md).
#include "kernels/x86/peak.inc.h"

namespace deberta {
namespace {

#define DEBERTA_SUMS "0,1,2,3,4,5,6,7,8,9,10,11"

void run(size_t rounds) {
  __asm__ volatile(DEBERTA_EACH(DEBERTA_SUMS ",14,15", "vxorps %%ymm\\n, %%ymm\\n, %%ymm\\n")
                       DEBERTA_ROUNDS(DEBERTA_SUMS, "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm")
                   : "+r"(rounds)
                   :
                   : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                     "xmm11", "xmm14", "xmm15");
}

constexpr PeakKernel kKernel = {12 * 64, run};

}  // namespace

const PeakKernel& peak_avxvnni_kernel() {
  return kKernel;
}

}  // namespace deberta
