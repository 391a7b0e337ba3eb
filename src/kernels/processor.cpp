// Detection. Nothing here knows what needs a feature (implementations.inc) or which implementation is the faster one
// (choice.h).
#include "kernels/processor.h"

#include <algorithm>
#include <initializer_list>

#if DEBERTA_HAS_X86
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace deberta {
namespace {

#if DEBERTA_HAS_X86
struct Cpuid {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
Cpuid cpuid(unsigned leaf, unsigned part = 0) {
  Cpuid r;
  if (__get_cpuid_count(leaf, part, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

// The register state that the operating system saves; the instruction exists only with OSXSAVE.
unsigned saved_state() {
  if (!has_all(cpuid(1).c, bit_OSXSAVE)) return 0;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Everything that -march=haswell lets the compiler use.
bool has_avx2() {
  return has_all(saved_state(), 0x6) && has_all(cpuid(1).c, bit_AVX | bit_FMA | bit_MOVBE | bit_F16C | bit_POPCNT) &&
         has_all(cpuid(7).b, bit_AVX2 | bit_BMI | bit_BMI2) && has_all(cpuid(0x80000001).c, bit_LZCNT);
}

// Everything that -march=x86-64-v4 adds.
bool has_avx512() {
  return has_all(saved_state(), 0xE6) &&
         has_all(cpuid(7).b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
}

// Tiles are state that Linux gives only to a process that asks; the permission holds for all its threads.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

bool has_amx() {
  constexpr unsigned kTileState = 3u << 17, kTileBf16 = 1u << 22, kTile = 1u << 24, kTileInt8 = 1u << 25;
  return has_all(saved_state(), kTileState) && has_all(cpuid(7).d, kTileBf16 | kTile | kTileInt8) && may_use_tiles();
}

FeatureSet detect_features() {
  constexpr unsigned kVectorNeural256 = 1u << 4, kVectorNeural512 = 1u << 11, kVectorBf16 = 1u << 5;
  FeatureSet features = 0;
  if (has_avx2()) features |= feature_set({Feature::kAvx2});
  if (has_all(cpuid(7, 1).a, kVectorNeural256)) features |= feature_set({Feature::kAvxVnni});
  if (has_avx512()) features |= feature_set({Feature::kAvx512});
  if (has_all(cpuid(7).c, kVectorNeural512)) features |= feature_set({Feature::kAvx512Vnni});
  if (has_all(cpuid(7, 1).a, kVectorBf16)) features |= feature_set({Feature::kAvx512Bf16});
  if (has_amx()) features |= feature_set({Feature::kAmx});
  return features;
}

// Four characters a register.
std::string characters(std::initializer_list<unsigned> registers) {
  std::string text;
  for (const unsigned word : registers) {
    for (unsigned shift = 0; shift < 32; shift += 8) text += static_cast<char>(word >> shift & 0xFF);
  }
  return text;
}

// Three leaves of 16 characters, padded with spaces or zeros.
std::string brand() {
  std::string text;
  for (const unsigned leaf : {0x80000002u, 0x80000003u, 0x80000004u}) {
    const Cpuid r = cpuid(leaf);
    text += characters({r.a, r.b, r.c, r.d});
  }
  text.resize(std::min(text.find('\0'), text.size()));
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Processor detect_processor() {
  const Cpuid zero = cpuid(0);
  const unsigned signature = cpuid(1).a;
  const unsigned base_family = signature >> 8 & 0xF, base_model = signature >> 4 & 0xF;
  const unsigned extended_family = signature >> 20 & 0xFF, extended_model = signature >> 16 & 0xF;
  Processor processor{characters({zero.b, zero.d, zero.c}), brand(), base_family, base_model};
  if (base_family == 0xF) processor.family += extended_family;
  if (base_family == 0xF || base_family == 6) processor.model += extended_model << 4;
  return processor;
}
#else
FeatureSet detect_features() {
  return 0;
}

Processor detect_processor() {
  return {};
}
#endif

}  // namespace

const Processor& this_processor() {
  static const Processor processor = detect_processor();
  return processor;
}

FeatureSet processor_features() {
  static const FeatureSet features = detect_features();
  return features;
}

}  // namespace deberta
