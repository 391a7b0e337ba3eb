// Processor detection (cpuid and XGETBV), the table of implementations, the counters.
#include "kernels/dispatch.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "deberta/error.h"

#if DEBERTA_HAS_X86
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace deberta {
namespace {

constexpr std::array<KernelLevel, kKernelLevels> kLevels = {
    KernelLevel::kReference,  KernelLevel::kAvx2,       KernelLevel::kAvxVnni, KernelLevel::kAvx512,
    KernelLevel::kAvx512Vnni, KernelLevel::kAvx512Bf16, KernelLevel::kAmx};
// The implementations that exist: for each operation and precision its levels, as bits.
constexpr unsigned bit(KernelLevel level) {
  return 1u << static_cast<unsigned>(level);
}
constexpr unsigned kRef = bit(KernelLevel::kReference);
constexpr unsigned kWide = kRef | bit(KernelLevel::kAvx2) | bit(KernelLevel::kAvx512);
constexpr unsigned kVnni = bit(KernelLevel::kAvxVnni) | bit(KernelLevel::kAvx512Vnni);
constexpr unsigned kBf16 = bit(KernelLevel::kAvx512Bf16);
constexpr unsigned kAmx = bit(KernelLevel::kAmx);
constexpr unsigned kExists[kOperations][kPrecisions] = {
    // fp32, bf16, int8
    {kWide, kWide | kBf16 | kAmx, kWide | kVnni | kAmx},  // gemm
    {kWide, kWide | kBf16 | kAmx, kRef},                  // attention
    {kWide, kWide, kWide},                                // layer_norm: fp32 sums in every precision, as in all below
    {kWide, kWide, kWide},                                // quantize
    {kWide, kWide, kWide},                                // embedding
    {kWide, kWide, kWide},                                // convolution
};

std::atomic<uint64_t> counters[kOperations][kPrecisions][kKernelLevels];

#if DEBERTA_HAS_X86
struct Cpuid {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
Cpuid cpuid(unsigned leaf, unsigned part = 0) {
  Cpuid r;
  if (__get_cpuid_count(leaf, part, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

bool has_all(unsigned bits, unsigned wanted) {
  return (bits & wanted) == wanted;
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

bool has_avx_vnni() {
  constexpr unsigned kVectorNeural = 1u << 4;
  return has_avx2() && has_all(cpuid(7, 1).a, kVectorNeural);
}

// Everything that -march=x86-64-v4 adds.
bool has_avx512() {
  return has_avx2() && has_all(saved_state(), 0xE6) &&
         has_all(cpuid(7).b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
}
bool has_vnni() {
  constexpr unsigned kVectorNeural = 1u << 11;
  return has_avx512() && has_all(cpuid(7).c, kVectorNeural);
}

bool has_bf16() {
  constexpr unsigned kVectorBf16 = 1u << 5;
  return has_avx512() && has_all(cpuid(7, 1).a, kVectorBf16);
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
  return has_vnni() && has_bf16() && has_all(saved_state(), kTileState) &&
         has_all(cpuid(7).d, kTileBf16 | kTile | kTileInt8) && may_use_tiles();
}

unsigned detect_levels() {
  unsigned levels = kRef;
  if (has_avx2()) levels |= bit(KernelLevel::kAvx2);
  if (has_avx_vnni()) levels |= bit(KernelLevel::kAvxVnni);
  if (has_avx512()) levels |= bit(KernelLevel::kAvx512);
  if (has_vnni()) levels |= bit(KernelLevel::kAvx512Vnni);
  if (has_bf16()) levels |= bit(KernelLevel::kAvx512Bf16);
  if (has_amx()) levels |= bit(KernelLevel::kAmx);
  return levels;
}
#else
unsigned detect_levels() {
  return kRef;
}
#endif

unsigned usable_levels() {
  static const unsigned levels = detect_levels();
  return levels;
}

std::string list_of_names() {
  std::string names = "auto, check";
  for (const KernelLevel level : available_levels()) names += fmt::format(", {}", to_string(level));
  return names;
}

}  // namespace

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::kGemm:
      return "gemm";
    case Operation::kAttention:
      return "attention";
    case Operation::kLayerNorm:
      return "layer_norm";
    case Operation::kQuantize:
      return "quantize";
    case Operation::kEmbedding:
      return "embedding";
    case Operation::kConvolution:
      return "convolution";
  }
  return "";
}

std::string_view to_string(KernelLevel level) {
  switch (level) {
    case KernelLevel::kReference:
      return "reference";
    case KernelLevel::kAvx2:
      return "avx2";
    case KernelLevel::kAvxVnni:
      return "avx_vnni";
    case KernelLevel::kAvx512:
      return "avx512";
    case KernelLevel::kAvx512Vnni:
      return "avx512_vnni";
    case KernelLevel::kAvx512Bf16:
      return "avx512_bf16";
    case KernelLevel::kAmx:
      return "amx";
  }
  return "";
}

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kInt8:
      return "int8";
  }
  return "";
}

std::vector<KernelLevel> available_levels() {
  std::vector<KernelLevel> levels;
  for (const KernelLevel level : kLevels) {
    if ((usable_levels() & bit(level)) != 0) levels.push_back(level);
  }
  return levels;
}

void KernelCheck::record(Operation operation, double difference, std::string_view where) {
  if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
  const std::lock_guard lock(mutex_);
  Difference& entry = differences_[static_cast<size_t>(operation)];
  if (entry.calls++ > 0 && difference <= entry.worst) return;
  entry.worst = difference;
  entry.where = where;
}

KernelCheck::Difference KernelCheck::worst(Operation operation) const {
  const std::lock_guard lock(mutex_);
  return differences_[static_cast<size_t>(operation)];
}

KernelLevel KernelSet::level_of(Operation operation, Precision precision) const {
  const unsigned levels = kExists[static_cast<size_t>(operation)][static_cast<size_t>(precision)] & usable_levels();
  size_t level = static_cast<size_t>(cap);
  while ((levels & bit(kLevels[level])) == 0) --level;  // kReference always exists
  return kLevels[level];
}

KernelSet select_kernels(std::string_view name) {
  const std::vector<KernelLevel> available = available_levels();
  if (name == "auto") return {available.back(), nullptr};
  if (name == "check") return {available.back(), std::make_shared<KernelCheck>()};
  for (const KernelLevel level : kLevels) {
    if (name != to_string(level)) continue;
    if (std::find(available.begin(), available.end(), level) != available.end()) return {level, nullptr};
    throw Error(ErrorCode::kKernels, "kernels",
                fmt::format("this processor cannot run {}; it has {}", name, list_of_names()));
  }
  throw Error(ErrorCode::kKernels, "kernels",
              fmt::format("unknown name \"{}\"; this processor has {}", name, list_of_names()));
}

std::vector<KernelCount> kernel_counts() {
  std::vector<KernelCount> counts;
  for (size_t operation = 0; operation < kOperations; ++operation) {
    for (size_t precision = 0; precision < kPrecisions; ++precision) {
      for (size_t level = 0; level < kKernelLevels; ++level) {
        if ((kExists[operation][precision] & bit(kLevels[level])) == 0) continue;
        counts.push_back({static_cast<Operation>(operation), static_cast<Precision>(precision), kLevels[level],
                          counters[operation][precision][level].load(std::memory_order_relaxed)});
      }
    }
  }
  return counts;
}

void count_call(Operation operation, KernelLevel level, Precision precision) {
  counters[static_cast<size_t>(operation)][static_cast<size_t>(precision)][static_cast<size_t>(level)].fetch_add(
      1, std::memory_order_relaxed);
}

}  // namespace deberta
