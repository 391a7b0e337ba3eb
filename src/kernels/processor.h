// What this processor is and which instruction sets it has: cpuid, XGETBV and, for tiles, permission from Linux.
#pragma once
#include <initializer_list>
#include <string>

namespace deberta {

struct Processor {
  std::string vendor;   // "AuthenticAMD", "GenuineIntel"; empty where cpuid does not exist
  std::string name;     // as it calls itself; empty where it does not say
  unsigned family = 0;  // as the vendor writes it: the extended one added
  unsigned model = 0;
};
const Processor& this_processor();

// By the flags of the compiler (cmake/isa.cmake). None of them includes another.
enum class Feature {
  kAvx2,  // all that -march=haswell allows
  kAvxVnni,
  kAvx512,  // all that -march=x86-64-v4 adds
  kAvx512Vnni,
  kAvx512Bf16,
  kAmx,  // tiles, in bf16 and int8
};

using FeatureSet = unsigned;  // bits
constexpr FeatureSet feature_set(std::initializer_list<Feature> features) {
  FeatureSet set = 0;
  for (const Feature feature : features) set |= 1u << static_cast<unsigned>(feature);
  return set;
}
constexpr bool has_all(FeatureSet set, FeatureSet wanted) {
  return (set & wanted) == wanted;
}

// What this processor and its operating system support. The first call asks Linux for the tile registers (arch_prctl),
// for the whole process.
FeatureSet processor_features();

}  // namespace deberta
