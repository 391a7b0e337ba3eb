// Which implementation of an operation runs: chosen by name, proven by counters, checked against the reference.
// Not here: the environment (the caller passes the name) and the operations themselves.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_memory.h"
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

// A row of the table of implementations (implementations.inc): the reference, or what an instruction set offers.
enum class KernelLevel {
#define DEBERTA_IMPLEMENTATION(level, ...) level,
#include "kernels/implementations.inc"
#undef DEBERTA_IMPLEMENTATION
};
inline constexpr std::array kLevels = {
#define DEBERTA_IMPLEMENTATION(level, ...) KernelLevel::level,
#include "kernels/implementations.inc"
#undef DEBERTA_IMPLEMENTATION
};
inline constexpr size_t kKernelLevels = kLevels.size();

// No level includes another: a processor may have VNNI without BF16, and a card has neither. What one needs and
// provides is in its row (implementations.h).
bool operator<(KernelLevel, KernelLevel) = delete;
bool operator>(KernelLevel, KernelLevel) = delete;
bool operator<=(KernelLevel, KernelLevel) = delete;
bool operator>=(KernelLevel, KernelLevel) = delete;

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

// The levels that this processor can run, kReference first.
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

// A choice of implementations, and the device that they run on. Copies share the check and the memory.
// What an operation reads and writes lies in that memory, but for what shapes the call itself: starts of sequences,
// relative rows by distance, sources of packed weights.
struct KernelSet {
  ChosenLevels levels{};                           // kReference
  std::shared_ptr<KernelCheck> check = nullptr;    // null unless "check" was asked for
  std::shared_ptr<DeviceMemory> memory = nullptr;  // null: the host's

  // The level of the implementation that runs for `operation`.
  KernelLevel level_of(Operation operation, Precision precision = Precision::kFp32) const {
    return levels[static_cast<size_t>(operation)][static_cast<size_t>(precision)];
  }
};

// Marks an operation of a device while it runs; does nothing on the host. `operands`: pointers that must lie in the
// device's memory, or be null. Throws kInternal where one does not.
class OperationScope {
 public:
  OperationScope(const KernelSet& kernels, std::initializer_list<const void*> operands)
      : memory_(kernels.memory.get()) {
    if (memory_ != nullptr) begin(operands);
  }
  ~OperationScope() {
    if (memory_ != nullptr) memory_->end_operation();
  }
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

 private:
  void begin(std::initializer_list<const void*> operands);

  DeviceMemory* memory_;
};

// "auto" (the fastest that this processor has: choice.h), "check" (auto, with the reference run at each call), or the
// name of a level, which is a cap (capped_levels() in choice.h). Throws kKernels, listing what this processor has, for
// another name or a level that it cannot run.
KernelSet select_kernels(std::string_view name);

// The same for the name of a level, on a processor that can run `usable`.
ChosenLevels forced_levels(std::string_view name, LevelSet usable);

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
