// The kinds of processors, the rule, and what a forced level means.
#include "kernels/choice.h"

#include <algorithm>

namespace deberta {
namespace {

bool can_run(LevelSet usable, Operation operation, Precision precision, KernelLevel level) {
  return (usable & level_bit(level)) != 0 && exists(operation, precision, level);
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

// Measured (docs/records/performance.md); the rest, the 256-bit and the vpmaddwd of all but Zen 5, follow from lanes
// and ports.
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
// Zen 5: only the server models, since some others have narrow multipliers.
constexpr ProcessorKind kKinds[] = {
    {.name = "Zen 4", .vendor = "AuthenticAMD", .family = 0x19, .models = {0x10, 0x1F}, .peaks = kZen4},
    {.name = "Zen 4", .vendor = "AuthenticAMD", .family = 0x19, .models = {0x60, 0xAF}, .peaks = kZen4},
    {.name = "Zen 5", .vendor = "AuthenticAMD", .family = 0x1A, .models = {0x00, 0x1F}, .peaks = kZen5},
    {.name = "Sapphire Rapids", .vendor = "GenuineIntel", .family = 6, .models = {0x8F, 0x8F}, .peaks = kGoldenCove},
    {.name = "Emerald Rapids", .vendor = "GenuineIntel", .family = 6, .models = {0xCF, 0xCF}, .peaks = kGoldenCove},
};

// Operations on rows follow fp32's multiplier: it says what wide registers are worth.
Precision followed(Operation operation, Precision precision) {
  switch (operation) {
    case Operation::kGemm:
    case Operation::kAttention:
    case Operation::kAttentionBackward:
      return precision;
    case Operation::kLayerNorm:
    case Operation::kQuantize:
    case Operation::kEmbedding:
    case Operation::kConvolution:
    case Operation::kLayerNormGradient:
    case Operation::kActivation:
    case Operation::kSoftmax:
      break;
  }
  return Precision::kFp32;
}

double product_speed(const Peaks& peaks, Precision precision, KernelLevel level) {
  return implementation(level).reached * peaks.of(precision, level);
}

KernelLevel fastest_level(LevelSet usable, Operation operation, Precision precision, const Peaks& peaks) {
  const auto speed = [&](KernelLevel level) {
    if (!can_run(usable, operation, precision, level)) return 0.0;
    return product_speed(peaks, followed(operation, precision), level);
  };
  double most = 0;
  for (const KernelLevel level : kLevels) most = std::max(most, speed(level));
  KernelLevel best = KernelLevel::kReference;
  for (const KernelLevel level : kLevels) {
    if (speed(level) > 0 && kCloseRatio * speed(level) >= most) best = level;
  }
  return best;
}

// The reference where no level is.
template <class IsRight>
KernelLevel last_level_up_to(KernelLevel cap, IsRight is_right) {
  KernelLevel last = KernelLevel::kReference;
  for (const ImplementationRow& row : rows_up_to(cap)) {
    if (is_right(row.level)) last = row.level;
  }
  return last;
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

ChosenLevels capped_levels(LevelSet usable, KernelLevel cap) {
  return for_every_operation([&](Operation operation, Precision precision) {
    return last_level_up_to(cap, [&](KernelLevel level) { return can_run(usable, operation, precision, level); });
  });
}

KernelLevel level_for_heads(LevelSet usable, Operation operation, Precision precision, KernelLevel level,
                            size_t head_size) {
  constexpr size_t kVector = 16;
  if (head_size % kVector != 0) return KernelLevel::kReference;
  const auto takes = [&](KernelLevel candidate) {
    return head_size % (2 * kVector) == 0 || !implementation(candidate).multiplies_pairs;
  };
  if (takes(level)) return level;
  return last_level_up_to(level, [&](KernelLevel candidate) {
    return takes(candidate) && can_run(usable, operation, precision, candidate);
  });
}

ChosenLevels fastest_levels(LevelSet usable, const Peaks& peaks) {
  return for_every_operation(
      [&](Operation operation, Precision precision) { return fastest_level(usable, operation, precision, peaks); });
}

bool gains_speed(const ChosenLevels& levels, const Peaks& peaks, Precision precision) {
  const auto speed = [&](Precision operand) {
    const KernelLevel level = levels[static_cast<size_t>(Operation::kGemm)][static_cast<size_t>(operand)];
    return product_speed(peaks, operand, level);
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
