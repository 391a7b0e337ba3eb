// Chains of one instruction that never leave the registers, as blocks of assembly, so that no compiler can leave
// anything out. Included by peak_<isa>.cpp.
#include <stddef.h>

#include "kernels/peak_kernel.h"

#define DEBERTA_EACH(numbers, text) ".irp n, " numbers "\n" text "\n.endr\n"

// `product` ends where the number of its register of sums follows; %0 counts the rounds.
#define DEBERTA_ROUNDS(numbers, product) \
  "1:\n" DEBERTA_EACH(numbers, product "\\n") \
  "dec %0\n"                                \
  "jnz 1b\n"

// DEBERTA_CHAINS_256(name, product) makes the function `name`: 12 chains in registers of 32 bytes. A product's factors
// are ymm14 and ymm15, ymm13 is free.
#define DEBERTA_SUMS_256 "0,1,2,3,4,5,6,7,8,9,10,11"
#define DEBERTA_CHAINS_256(name, product)                                                                             \
  void name(size_t rounds) {                                                                                          \
    __asm__ volatile(DEBERTA_EACH(DEBERTA_SUMS_256 ",14,15", "vxorps %%ymm\\n, %%ymm\\n, %%ymm\\n")                   \
                         DEBERTA_ROUNDS(DEBERTA_SUMS_256, product)                                                    \
                     : "+r"(rounds)                                                                                   \
                     :                                                                                                \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                       "xmm11", "xmm13", "xmm14", "xmm15");                                                           \
  }

// The same with 24 chains in registers of 64 bytes; the factors are zmm30 and zmm31, zmm29 is free.
#define DEBERTA_SUMS_512 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
#define DEBERTA_CHAINS_512(name, product)                                                                             \
  void name(size_t rounds) {                                                                                          \
    __asm__ volatile(DEBERTA_EACH(DEBERTA_SUMS_512 ",30,31", "vpxorq %%zmm\\n, %%zmm\\n, %%zmm\\n")                   \
                         DEBERTA_ROUNDS(DEBERTA_SUMS_512, product)                                                    \
                     : "+r"(rounds)                                                                                   \
                     :                                                                                                \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20",      \
                       "xmm21", "xmm22", "xmm23", "xmm29", "xmm30", "xmm31");                                         \
  }

namespace deberta {
namespace {
constexpr size_t kChains256 = 12;
constexpr size_t kChains512 = 24;
}  // namespace
}  // namespace deberta
