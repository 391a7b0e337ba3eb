// Which implementation of an operation runs: chosen by name, proven by counters, checked against the reference.
// Not here: the environment (the caller passes the name) and the operations themselves.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/precision.h"

namespace deberta {

enum class Operation {
  kGemm,
  kAttention,
  kLayerNorm,
  kQuantize,
  kEmbedding,
  kConvolution,
  kAttentionBackward,  // this and the ones below: training alone
  kLayerNormGradient,
  kActivation,
  kSoftmax,
};
inline constexpr size_t kOperations = 10;

// Ascending: a forced level is a cap, and each operation takes, for its precision, the highest implementation at or
// below it that the processor can run. Features are not nested (a processor may have VNNI without BF16). The highest is
// not always the fastest: choice.h decides what runs unless a level is forced.
enum class KernelLevel { kReference, kAvx2, kAvxVnni, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };
inline constexpr size_t kKernelLevels = 7;
inline constexpr std::array<KernelLevel, kKernelLevels> kLevels = {
    KernelLevel::kReference,  KernelLevel::kAvx2,       KernelLevel::kAvxVnni, KernelLevel::kAvx512,
    KernelLevel::kAvx512Vnni, KernelLevel::kAvx512Bf16, KernelLevel::kAmx};
inline constexpr size_t kPrecisions = 3;
inline constexpr std::array<Precision, kPrecisions> kAllPrecisions = {Precision::kFp32, Precision::kBf16,
                                                                      Precision::kInt8};

using LevelSet = unsigned;  // bits
constexpr LevelSet level_bit(KernelLevel level) {
  return 1u << static_cast<unsigned>(level);
}

// The level of the implementation of each operation in each precision.
using ChosenLevels = std::array<std::array<KernelLevel, kPrecisions>, kOperations>;

std::string_view to_string(Operation operation);
std::string_view to_string(KernelLevel level);

// What an operation expects of its caller. Throws kInternal, naming the operation.
void require(Operation operation, bool is_right, const char* what);

// The levels that this processor can run (processor.h), kReference first.
std::vector<KernelLevel> available_levels();

// What `check` found: for each operation the largest |kernel - reference| and where. Thread-safe.
class KernelCheck {
 public:
  struct Difference {
    uint64_t calls = 0;  // compared
    double worst = 0;    // infinity when either side is not finite and they differ
    std::string where;   // shape, row and column of the worst
  };
  void record(Operation operation, double difference, std::string_view where);
  Difference worst(Operation operation) const;

 private:
  mutable std::mutex mutex_;
  std::array<Difference, kOperations> differences_;
};

// A choice. Copies share the check.
struct KernelSet {
  ChosenLevels levels{};                         // kReference
  std::shared_ptr<KernelCheck> check = nullptr;  // null unless "check" was asked for

  // The level of the implementation that runs for `operation`.
  KernelLevel level_of(Operation operation, Precision precision = Precision::kFp32) const {
    return levels[static_cast<size_t>(operation)][static_cast<size_t>(precision)];
  }
};

// "auto" (the fastest that this processor has: choice.h), "check" (auto, with the reference run at each call),
// "reference", "avx2", "avx_vnni", "avx512", "avx512_vnni", "avx512_bf16", "amx". Throws kKernels, listing what this
// processor has, for another name or a level it cannot run.
KernelSet select_kernels(std::string_view name);

// How often each implementation was called in this process (once per call of the operation, not per tile).
struct KernelCount {
  Operation operation;
  Precision precision;
  KernelLevel level;
  uint64_t calls;
};
std::vector<KernelCount> kernel_counts();

// For the operations: adds one to their counter.
void count_call(Operation operation, KernelLevel level, Precision precision = Precision::kFp32);

}  // namespace deberta
