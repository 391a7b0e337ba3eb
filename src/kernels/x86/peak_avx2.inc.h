// 12 chains in registers of 32 bytes: DEBERTA_CHAINS(name, product) makes the function `name`. A product ends where the
// number of its register of sums follows; its factors are ymm14 and ymm15, ymm13 is free. Included by peak_avx2.cpp and
// peak_avxvnni.cpp.
#include "kernels/x86/peak.inc.h"

#define DEBERTA_SUMS "0,1,2,3,4,5,6,7,8,9,10,11"
#define DEBERTA_CHAINS(name, product)                                                                                 \
  void name(size_t rounds) {                                                                                          \
    __asm__ volatile(DEBERTA_EACH(DEBERTA_SUMS ",14,15", "vxorps %%ymm\\n, %%ymm\\n, %%ymm\\n")                       \
                         DEBERTA_ROUNDS(DEBERTA_SUMS, product)                                                        \
                     : "+r"(rounds)                                                                                   \
                     :                                                                                                \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                       "xmm11", "xmm13", "xmm14", "xmm15");                                                           \
  }

namespace deberta {
namespace {
constexpr size_t kChains = 12;
}  // namespace
}  // namespace deberta
