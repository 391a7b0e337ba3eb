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
