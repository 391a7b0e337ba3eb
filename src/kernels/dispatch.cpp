// Names, the choice by name, the counters.
#include "kernels/dispatch.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "deberta/error.h"
#include "kernels/choice.h"
#include "kernels/implementations.h"

namespace deberta {
namespace {

std::atomic<uint64_t> counters[kOperations][kPrecisions][kKernelLevels];

std::vector<KernelLevel> levels_in(LevelSet set) {
  std::vector<KernelLevel> levels;
  for (const KernelLevel level : kLevels) {
    if ((set & level_bit(level)) != 0) levels.push_back(level);
  }
  return levels;
}

std::string list_of_names(LevelSet usable) {
  std::string names = "auto, check";
  for (const KernelLevel level : levels_in(usable)) names += fmt::format(", {}", to_string(level));
  return names;
}

}  // namespace

void require(Operation operation, bool is_right, const char* what) {
  if (!is_right) throw Error(ErrorCode::kInternal, std::string(to_string(operation)), what);
}

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
    case Operation::kAttentionBackward:
      return "attention_backward";
    case Operation::kLayerNormGradient:
      return "layer_norm_gradient";
    case Operation::kActivation:
      return "activation";
    case Operation::kSoftmax:
      return "softmax";
  }
  return "";
}

std::string_view to_string(KernelLevel level) {
  return implementation(level).name;
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
  return levels_in(usable_levels());
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

ChosenLevels forced_levels(std::string_view name, LevelSet usable) {
  for (const KernelLevel level : kLevels) {
    if (name != to_string(level)) continue;
    if ((usable & level_bit(level)) != 0) return capped_levels(usable, level);
    throw Error(ErrorCode::kKernels, "kernels",
                fmt::format("this processor cannot run {}; it has {}", name, list_of_names(usable)));
  }
  throw Error(ErrorCode::kKernels, "kernels",
              fmt::format("unknown name \"{}\"; this processor has {}", name, list_of_names(usable)));
}

void OperationScope::begin(std::initializer_list<const void*> operands) {
  for (const void* operand : operands) {
    if (operand != nullptr && !memory_->holds(operand))
      throw Error(ErrorCode::kInternal, "device", "an operand of an operation lies in the host's memory");
  }
  memory_->begin_operation();
}

KernelSet select_kernels(std::string_view name) {
  if (name == "auto") return {.levels = automatic_choice().levels};
  if (name == "check") return {.levels = automatic_choice().levels, .check = std::make_shared<KernelCheck>()};
  return {.levels = forced_levels(name, usable_levels())};
}

std::vector<KernelCount> kernel_counts() {
  std::vector<KernelCount> counts;
  for (size_t operation = 0; operation < kOperations; ++operation) {
    for (size_t precision = 0; precision < kPrecisions; ++precision) {
      for (size_t level = 0; level < kKernelLevels; ++level) {
        if (!exists(static_cast<Operation>(operation), static_cast<Precision>(precision), kLevels[level])) continue;
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
