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
#endif

namespace deberta {
namespace {

constexpr std::array<KernelLevel, kKernelLevels> kLevels = {KernelLevel::kReference, KernelLevel::kAvx2,
                                                            KernelLevel::kAvx512};
// The implementations that exist, one row per operation, one column per level.
constexpr bool kExists[kOperations][kKernelLevels] = {
    {true, true, true},    // gemm
    {true, false, false},  // attention
    {true, false, false},  // layer_norm
    {true, false, false},  // embedding
    {true, false, false},  // convolution
};

std::atomic<uint64_t> counters[kOperations][kKernelLevels];

#if DEBERTA_HAS_X86
struct Cpuid {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
Cpuid cpuid(unsigned leaf) {
  Cpuid r;
  if (__get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d) == 0) return {};
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

// Everything that -march=x86-64-v4 adds.
bool has_avx512() {
  return has_avx2() && has_all(saved_state(), 0xE6) &&
         has_all(cpuid(7).b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
}
#else
bool has_avx2() {
  return false;
}
bool has_avx512() {
  return false;
}
#endif

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
    case KernelLevel::kAvx512:
      return "avx512";
  }
  return "";
}

std::vector<KernelLevel> available_levels() {
  std::vector<KernelLevel> levels = {KernelLevel::kReference};
  if (has_avx2()) levels.push_back(KernelLevel::kAvx2);
  if (has_avx512()) levels.push_back(KernelLevel::kAvx512);
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

KernelLevel KernelSet::level_of(Operation operation) const {
  size_t level = static_cast<size_t>(cap);
  while (!kExists[static_cast<size_t>(operation)][level]) --level;  // kReference always exists
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
    for (size_t level = 0; level < kKernelLevels; ++level) {
      if (!kExists[operation][level]) continue;
      counts.push_back({static_cast<Operation>(operation), kLevels[level],
                        counters[operation][level].load(std::memory_order_relaxed)});
    }
  }
  return counts;
}

void count_call(Operation operation, KernelLevel level) {
  counters[static_cast<size_t>(operation)][static_cast<size_t>(level)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace deberta
