// 24 chains in registers of 64 bytes: DEBERTA_CHAINS(name, product) makes the function `name`. A product ends where the
// number of its register of sums follows; its factors are zmm30 and zmm31, zmm29 is free. Included by peak_avx512*.cpp.
#include "kernels/x86/peak.inc.h"

#define DEBERTA_SUMS "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
#define DEBERTA_CHAINS(name, product)                                                                                 \
  void name(size_t rounds) {                                                                                          \
    __asm__ volatile(DEBERTA_EACH(DEBERTA_SUMS ",30,31", "vpxorq %%zmm\\n, %%zmm\\n, %%zmm\\n")                       \
                         DEBERTA_ROUNDS(DEBERTA_SUMS, product)                                                        \
                     : "+r"(rounds)                                                                                   \
                     :                                                                                                \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20",      \
                       "xmm21", "xmm22", "xmm23", "xmm29", "xmm30", "xmm31");                                         \
  }

namespace deberta {
namespace {
constexpr size_t kChains = 24;
}  // namespace
}  // namespace deberta
