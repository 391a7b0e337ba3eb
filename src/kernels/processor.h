// What this processor is and which levels it can run: cpuid, XGETBV and, for tiles, permission from Linux.
#pragma once
#include <string>

#include "kernels/dispatch.h"

namespace deberta {

struct Processor {
  std::string vendor;   // "AuthenticAMD", "GenuineIntel"; empty where cpuid does not exist
  std::string name;     // as it calls itself; empty where it does not say
  unsigned family = 0;  // as the vendor writes it: the extended one added
  unsigned model = 0;
};
const Processor& this_processor();

// What this processor and its operating system can run and what was built in, the reference always. The first call asks
// Linux for the tile registers (arch_prctl), for the whole process.
LevelSet usable_levels();

}  // namespace deberta
