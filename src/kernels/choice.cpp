// The implementations that exist, the kinds of processors, the rule.
#include "kernels/choice.h"

#include <algorithm>

namespace deberta {
namespace {

// For each operation and precision its levels.
constexpr LevelSet kRef = level_bit(KernelLevel::kReference);
constexpr LevelSet kWide = kRef | level_bit(KernelLevel::kAvx2) | level_bit(KernelLevel::kAvx512);
constexpr LevelSet kVnni = level_bit(KernelLevel::kAvxVnni) | level_bit(KernelLevel::kAvx512Vnni);
constexpr LevelSet kBf16 = level_bit(KernelLevel::kAvx512Bf16);
constexpr LevelSet kAmx = level_bit(KernelLevel::kAmx);
constexpr LevelSet kExists[kOperations][kPrecisions] = {
    // fp32, bf16, int8
    {kWide, kWide | kBf16 | kAmx, kWide | kVnni | kAmx},  // gemm
    {kWide, kWide | kBf16 | kAmx, kRef},                  // attention
    {kWide, kWide, kWide},                                // layer_norm: fp32 sums in every precision, as in all below
    {kWide, kWide, kWide},                                // quantize
    {kWide, kWide, kWide},                                // embedding
    {kWide, kWide, kWide},                                // convolution
    {kWide, kWide | kBf16 | kAmx, kRef},                  // attention_backward
    {kWide, kWide, kWide},                                // layer_norm_gradient
    {kWide, kWide, kWide},                                // activation
    {kWide, kWide, kWide},                                // softmax
};

LevelSet existing(Operation operation, Precision precision) {
  return kExists[static_cast<size_t>(operation)][static_cast<size_t>(precision)];
}

// Operations a cycle of one core, by instruction.
struct PerCycle {
  double fma_256 = 0, fma_512 = 0, dp_bf16_512 = 0, tile_bf16 = 0;
  double madd_256 = 0, dp_bytes_256 = 0, madd_512 = 0, dp_bytes_512 = 0, tile_int8 = 0;
};

constexpr Peaks peaks_of(const PerCycle& c) {
  Peaks peaks;
  for (const Precision widened : {Precision::kFp32, Precision::kBf16}) {
    peaks.of(widened, KernelLevel::kAvx2) = c.fma_256;
    peaks.of(widened, KernelLevel::kAvx512) = c.fma_512;
  }
  peaks.of(Precision::kBf16, KernelLevel::kAvx512Bf16) = c.dp_bf16_512;
  peaks.of(Precision::kBf16, KernelLevel::kAmx) = c.tile_bf16;
  peaks.of(Precision::kInt8, KernelLevel::kAvx2) = c.madd_256;
  peaks.of(Precision::kInt8, KernelLevel::kAvxVnni) = c.dp_bytes_256;
  peaks.of(Precision::kInt8, KernelLevel::kAvx512) = c.madd_512;
  peaks.of(Precision::kInt8, KernelLevel::kAvx512Vnni) = c.dp_bytes_512;
  peaks.of(Precision::kInt8, KernelLevel::kAmx) = c.tile_int8;
  return peaks;
}

// Measured (docs/performance.md); the rest, the 256-bit and the vpmaddwd of all but Zen 5, follow from lanes and ports.
// A row is a promise: changing a figure may change the bits of answers on that kind.
// Registers of 64 bytes in two halves.
constexpr Peaks kZen4 =
    peaks_of({.fma_256 = 32, .fma_512 = 32, .dp_bf16_512 = 64, .madd_256 = 64, .madd_512 = 64, .dp_bytes_512 = 128});
constexpr Peaks kZen5 = peaks_of({.fma_256 = 32,
                                  .fma_512 = 64,
                                  .dp_bf16_512 = 128,
                                  .madd_256 = 58,
                                  .dp_bytes_256 = 128,
                                  .madd_512 = 112,
                                  .dp_bytes_512 = 256});
// vdpbf16ps: one in two cycles.
constexpr Peaks kGoldenCove = peaks_of({.fma_256 = 32,
                                        .fma_512 = 64,
                                        .dp_bf16_512 = 32,
                                        .tile_bf16 = 1024,
                                        .madd_256 = 48,
                                        .dp_bytes_256 = 128,
                                        .madd_512 = 64,
                                        .dp_bytes_512 = 256,
                                        .tile_int8 = 2048});
// Of Zen 5 only the server models: some others have narrow multipliers.
constexpr ProcessorKind kKinds[] = {
    {.name = "Zen 4", .vendor = "AuthenticAMD", .family = 0x19, .models = {0x10, 0x1F}, .peaks = kZen4},
    {.name = "Zen 4", .vendor = "AuthenticAMD", .family = 0x19, .models = {0x60, 0xAF}, .peaks = kZen4},
    {.name = "Zen 5", .vendor = "AuthenticAMD", .family = 0x1A, .models = {0x00, 0x1F}, .peaks = kZen5},
    {.name = "Sapphire Rapids", .vendor = "GenuineIntel", .family = 6, .models = {0x8F, 0x8F}, .peaks = kGoldenCove},
    {.name = "Emerald Rapids", .vendor = "GenuineIntel", .family = 6, .models = {0xCF, 0xCF}, .peaks = kGoldenCove},
};

// The part of a peak that products of matrices reach, roughly. Tiles multiply faster than the second-level cache can
// feed them: 0.16 to 0.42, the others 0.8 and more.
constexpr double reached(KernelLevel level) {
  return level == KernelLevel::kAmx ? 0.3 : 1;
}

// Operations on rows follow fp32's multiplier: it says what wide registers are worth.
Precision followed(Operation operation, Precision precision) {
  const bool is_product =
      operation == Operation::kGemm || operation == Operation::kAttention || operation == Operation::kAttentionBackward;
  return is_product ? precision : Precision::kFp32;
}

KernelLevel fastest_level(LevelSet usable, Operation operation, Precision precision, const Peaks& peaks) {
  const LevelSet levels = existing(operation, precision) & usable;
  const auto speed = [&](KernelLevel level) {
    const bool is_there = (levels & level_bit(level)) != 0;
    return is_there ? reached(level) * peaks.of(followed(operation, precision), level) : 0;
  };
  double most = 0;
  for (const KernelLevel level : kLevels) most = std::max(most, speed(level));
  KernelLevel best = KernelLevel::kReference;
  for (const KernelLevel level : kLevels) {
    if (speed(level) > 0 && kCloseRatio * speed(level) >= most) best = level;
  }
  return best;
}

template <class Choose>
ChosenLevels for_every_operation(Choose choose_level) {
  ChosenLevels chosen{};
  for (size_t operation = 0; operation < kOperations; ++operation) {
    for (const Precision precision : kAllPrecisions) {
      chosen[operation][static_cast<size_t>(precision)] = choose_level(static_cast<Operation>(operation), precision);
    }
  }
  return chosen;
}

}  // namespace

bool exists(Operation operation, Precision precision, KernelLevel level) {
  return (existing(operation, precision) & level_bit(level)) != 0;
}

KernelLevel capped_level(LevelSet usable, Operation operation, Precision precision, KernelLevel cap) {
  const LevelSet levels = existing(operation, precision) & usable;
  size_t level = static_cast<size_t>(cap);
  while (level > 0 && (levels & level_bit(kLevels[level])) == 0) --level;
  return kLevels[level];
}

ChosenLevels capped_levels(LevelSet usable, KernelLevel cap) {
  return for_every_operation(
      [&](Operation operation, Precision precision) { return capped_level(usable, operation, precision, cap); });
}

ChosenLevels fastest_levels(LevelSet usable, const Peaks& peaks) {
  return for_every_operation(
      [&](Operation operation, Precision precision) { return fastest_level(usable, operation, precision, peaks); });
}

bool gains_speed(const ChosenLevels& levels, const Peaks& peaks, Precision precision) {
  const auto speed = [&](Precision one) {
    const KernelLevel level = levels[static_cast<size_t>(Operation::kGemm)][static_cast<size_t>(one)];
    return reached(level) * peaks.of(one, level);
  };
  return speed(precision) > kCloseRatio * speed(Precision::kFp32);
}

std::span<const ProcessorKind> processor_kinds() {
  return kKinds;
}

const ProcessorKind* find_kind(const Processor& processor) {
  for (const ProcessorKind& kind : kKinds) {
    if (processor.vendor == kind.vendor && processor.family == kind.family && processor.model >= kind.models.first &&
        processor.model <= kind.models.last)
      return &kind;
  }
  return nullptr;
}

Choice choose(const Processor& processor, LevelSet usable, Peaks (*measure)(LevelSet usable)) {
  Choice choice;
  choice.kind = find_kind(processor);
  choice.peaks = choice.kind != nullptr ? choice.kind->peaks : measure(usable);
  choice.levels = fastest_levels(usable, choice.peaks);
  return choice;
}

const Choice& automatic_choice() {
  static const Choice choice = choose(this_processor(), usable_levels(), compare_multipliers);
  return choice;
}

}  // namespace deberta
