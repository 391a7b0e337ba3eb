// Which kernels run when none are forced: on every known kind of processor and on unknown ones; and that the choice
// neither follows the order of names nor changes with noise.
#include "kernels/choice.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "kernels/attention_table.h"
#include "kernels/gemm.h"

namespace deberta::choice_test {
namespace {

using enum KernelLevel;

LevelSet set_of(std::initializer_list<KernelLevel> levels) {
  LevelSet set = level_bit(kReference);
  for (const KernelLevel level : levels) set |= level_bit(level);
  return set;
}

Peaks must_not_measure(LevelSet) {
  ADD_FAILURE() << "measured, though the kind is known";
  return {};
}

// A figure for each multiplier.
struct Figures {
  double fma_256 = 0, fma_512 = 0, dp_bf16 = 0, tile_bf16 = 0, madd_256 = 0, bytes_256 = 0, madd_512 = 0, bytes_512 = 0;
};
Peaks peaks_of(const Figures& f) {
  Peaks peaks;
  peaks.figures[0] = {0, f.fma_256, 0, f.fma_512, 0, 0, 0};
  peaks.figures[1] = {0, f.fma_256, 0, f.fma_512, 0, f.dp_bf16, f.tile_bf16};
  peaks.figures[2] = {0, f.madd_256, f.bytes_256, f.madd_512, f.bytes_512, 0, 2 * f.tile_bf16};
  return peaks;
}

struct Expected {
  KernelLevel fp32, bf16, int8, attention_bf16, rows;
};
void expect_levels(const ChosenLevels& levels, const Expected& expected, const std::string& where) {
  const KernelSet set{levels, nullptr};
  EXPECT_EQ(set.level_of(Operation::kGemm, Precision::kFp32), expected.fp32) << where;
  EXPECT_EQ(set.level_of(Operation::kGemm, Precision::kBf16), expected.bf16) << where;
  EXPECT_EQ(set.level_of(Operation::kGemm, Precision::kInt8), expected.int8) << where;
  EXPECT_EQ(set.level_of(Operation::kAttention, Precision::kFp32), expected.fp32) << where;
  EXPECT_EQ(set.level_of(Operation::kAttention, Precision::kBf16), expected.attention_bf16) << where;
  for (const Operation rows : {Operation::kLayerNorm, Operation::kQuantize, Operation::kEmbedding}) {
    EXPECT_EQ(set.level_of(rows, Precision::kBf16), expected.rows) << where;
  }
}

const LevelSet kSapphire = set_of({kAvx2, kAvxVnni, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx});
const LevelSet kWithoutTiles = kSapphire & ~level_bit(kAmx);

TEST(Choice, OfEveryKindMet) {
  struct Met {
    std::string name;
    Processor processor;
    LevelSet usable;
    Expected expected;
  };
  const Met all[] = {
      {"Zen 4",
       {"AuthenticAMD", "", 25, 0x11},
       set_of({kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16}),
       {kAvx512, kAvx512Bf16, kAvx512Vnni, kAvx512Bf16, kAvx512}},
      {"Zen 5", {"AuthenticAMD", "", 26, 2}, kWithoutTiles, {kAvx512, kAvx512Bf16, kAvx512Vnni, kAvx512Bf16, kAvx512}},
      {"Sapphire Rapids", {"GenuineIntel", "", 6, 143}, kSapphire, {kAvx512, kAmx, kAmx, kAmx, kAvx512}},
      {"Emerald Rapids", {"GenuineIntel", "", 6, 207}, kSapphire, {kAvx512, kAmx, kAmx, kAmx, kAvx512}},
      // vdpbf16ps multiplies half as fast as fp32, so widening is faster.
      {"Emerald Rapids",
       {"GenuineIntel", "", 6, 207},
       kWithoutTiles,
       {kAvx512, kAvx512, kAvx512Vnni, kAvx512, kAvx512}},
  };
  for (const Met& met : all) {
    const Choice choice = choose(met.processor, met.usable, must_not_measure);
    ASSERT_NE(choice.kind, nullptr) << met.name;
    EXPECT_EQ(choice.kind->name, met.name);
    expect_levels(choice.levels, met.expected, met.name);
  }
}

TEST(Choice, OfAttentionsGradientInBf16IsThatOfAttention) {
  const auto level_on = [](const Processor& processor, LevelSet usable) {
    const Choice choice = choose(processor, usable, must_not_measure);
    return KernelSet{choice.levels, nullptr}.level_of(Operation::kAttentionBackward, Precision::kBf16);
  };
  EXPECT_EQ(level_on({"AuthenticAMD", "", 25, 0x11}, set_of({kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16})), kAvx512Bf16);
  EXPECT_EQ(level_on({"AuthenticAMD", "", 26, 2}, kWithoutTiles), kAvx512Bf16);
  EXPECT_EQ(level_on({"GenuineIntel", "", 6, 143}, kSapphire), kAmx);
  EXPECT_EQ(level_on({"GenuineIntel", "", 6, 207}, kWithoutTiles), kAvx512);
}

// The figures are billions per second, as measured.
TEST(Choice, OfOthersFollowsWhatIsMeasured) {
  struct Case {
    std::string name;
    LevelSet usable;
    Figures figures;
    Expected expected;
  };
  const Case all[] = {
      {"AVX2 alone", set_of({kAvx2}), {.fma_256 = 110, .madd_256 = 160}, {kAvx2, kAvx2, kAvx2, kAvx2, kAvx2}},
      {"AVX-VNNI without AVX-512",
       set_of({kAvx2, kAvxVnni}),
       {.fma_256 = 110, .madd_256 = 160, .bytes_256 = 430},
       {kAvx2, kAvx2, kAvxVnni, kAvx2, kAvx2}},
      {"AVX-512 alone",
       set_of({kAvx2, kAvx512}),
       {.fma_256 = 90, .fma_512 = 150, .madd_256 = 130, .madd_512 = 150},
       {kAvx512, kAvx512, kAvx512, kAvx512, kAvx512}},
      {"registers of 64 bytes in two halves",
       set_of({kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16}),
       {.fma_256 = 111, .fma_512 = 109, .dp_bf16 = 225, .madd_256 = 220, .madd_512 = 210, .bytes_512 = 430},
       {kAvx512, kAvx512Bf16, kAvx512Vnni, kAvx512Bf16, kAvx512}},
      {"a hidden AMX, measured",
       kWithoutTiles,
       {.fma_256 = 86,
        .fma_512 = 172,
        .dp_bf16 = 87,
        .madd_256 = 130,
        .bytes_256 = 345,
        .madd_512 = 172,
        .bytes_512 = 744},
       {kAvx512, kAvx512, kAvx512Vnni, kAvx512, kAvx512}},
      {"AVX-512 far slower than AVX2",
       kWithoutTiles,
       {.fma_256 = 100,
        .fma_512 = 50,
        .dp_bf16 = 50,
        .madd_256 = 100,
        .bytes_256 = 400,
        .madd_512 = 50,
        .bytes_512 = 200},
       {kAvx2, kAvx2, kAvxVnni, kAvx2, kAvx2}},
      {"tiles that are hardly faster",
       kSapphire,
       {.fma_256 = 86,
        .fma_512 = 172,
        .dp_bf16 = 344,
        .tile_bf16 = 500,
        .madd_256 = 130,
        .bytes_256 = 345,
        .madd_512 = 172,
        .bytes_512 = 744},
       {kAvx512, kAvx512Bf16, kAvx512Vnni, kAvx512Bf16, kAvx512}},
  };
  for (const Case& c : all) {
    static Peaks measured;
    measured = peaks_of(c.figures);
    const Choice choice = choose({"Unheard", "", 6, 1}, c.usable, [](LevelSet) { return measured; });
    EXPECT_EQ(choice.kind, nullptr);
    expect_levels(choice.levels, c.expected, c.name);
  }
  expect_levels(choose({}, set_of({}), [](LevelSet) { return Peaks{}; }).levels,
                {kReference, kReference, kReference, kReference, kReference}, "another architecture");
}

// If the next run chose a level that rounds differently, the same input would not give the same bits.
TEST(Choice, DoesNotMoveWithNoise) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0.85, 1.15);
  for (const ProcessorKind& kind : processor_kinds()) {
    for (const LevelSet usable : {kSapphire, kWithoutTiles, set_of({kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16})}) {
      const ChosenLevels quiet = fastest_levels(usable, kind.peaks);
      for (int run = 0; run < 200; ++run) {
        Peaks noisy = kind.peaks;
        for (auto& levels : noisy.figures) {
          for (double& figure : levels) figure *= noise(random);
        }
        ChosenLevels levels = fastest_levels(usable, noisy);
        levels[0][2] = quiet[0][2];  // products of bytes are exact: the same bits at every level
        ASSERT_EQ(levels, quiet) << kind.name;
      }
    }
  }
}

TEST(Choice, KindsAreTakenByVendorFamilyAndModel) {
  EXPECT_EQ(find_kind({"AuthenticAMD", "", 26, 0x1F})->name, "Zen 5");
  EXPECT_EQ(find_kind({"AuthenticAMD", "", 26, 0x24}), nullptr) << "its multipliers are half as wide";
  EXPECT_EQ(find_kind({"AuthenticAMD", "", 25, 0x01}), nullptr) << "Zen 3";
  EXPECT_EQ(find_kind({"GenuineIntel", "", 26, 2}), nullptr);
  EXPECT_EQ(find_kind({"GenuineIntel", "", 6, 0xAD}), nullptr);
  EXPECT_EQ(find_kind({}), nullptr);
}

TEST(Choice, KnowsWhatAPrecisionGains) {
  const auto gains = [](const Processor& processor, LevelSet usable, Precision precision) {
    const Choice choice = choose(processor, usable, must_not_measure);
    return gains_speed(choice.levels, choice.peaks, precision);
  };
  const Processor zen{"AuthenticAMD", "", 26, 2}, emerald{"GenuineIntel", "", 6, 207};
  EXPECT_TRUE(gains(zen, kWithoutTiles, Precision::kBf16));
  EXPECT_TRUE(gains(zen, kWithoutTiles, Precision::kInt8));
  EXPECT_TRUE(gains(emerald, kSapphire, Precision::kBf16));
  EXPECT_FALSE(gains(emerald, kWithoutTiles, Precision::kBf16));
  EXPECT_TRUE(gains(emerald, kWithoutTiles, Precision::kInt8));
  EXPECT_FALSE(gains(zen, set_of({kAvx2}), Precision::kBf16)) << "widened";
  EXPECT_TRUE(gains(zen, set_of({kAvx2}), Precision::kInt8));
  EXPECT_FALSE(gains(zen, set_of({}), Precision::kBf16)) << "the reference is as slow in every precision";
}

TEST(Choice, HereIsTheSameEveryTimeAndCanRun) {
  const Choice& choice = automatic_choice();
  EXPECT_EQ(&choice, &automatic_choice());
  for (size_t operation = 0; operation < kOperations; ++operation) {
    for (const Precision precision : kAllPrecisions) {
      const KernelLevel level = choice.levels[operation][static_cast<size_t>(precision)];
      EXPECT_TRUE(exists(static_cast<Operation>(operation), precision, level));
      EXPECT_NE(usable_levels() & level_bit(level), 0u);
    }
  }
}

TEST(Choice, EveryMultiplierHereIsMeasured) {
  const Peaks peaks = compare_multipliers(usable_levels());
  for (const Precision precision : kAllPrecisions) {
    for (const KernelLevel level : kLevels) {
      const bool is_there = level != kReference && (usable_levels() & level_bit(level)) != 0 &&
                            exists(Operation::kGemm, precision, level);
      EXPECT_EQ(peaks.of(precision, level) > 0, is_there) << to_string(precision) << " " << to_string(level);
      EXPECT_EQ(implementation(level).multipliers.of(precision).empty(),
                level == kReference || !exists(Operation::kGemm, precision, level));
    }
  }
  EXPECT_EQ(peaks.of(Precision::kBf16, kAvx512), peaks.of(Precision::kFp32, kAvx512)) << "the same instruction";
}

uint64_t calls_of(Precision precision, KernelLevel level) {
  for (const KernelCount& count : kernel_counts()) {
    if (count.operation == Operation::kGemm && count.precision == precision && count.level == level) return count.calls;
  }
  return 0;
}

// The kernels of an Emerald Rapids whose AMX is hidden, run on this machine: the counters show the widening one.
TEST(Choice, WhatIsChosenIsWhatRuns) {
  if ((usable_levels() & level_bit(kAvx512Bf16)) == 0) GTEST_SKIP() << "this processor has no vdpbf16ps to leave aside";
  const LevelSet usable = usable_levels() & ~level_bit(kAmx);
  const KernelSet kernels{choose({"GenuineIntel", "", 6, 207}, usable, must_not_measure).levels, nullptr};
  const float w[] = {3, 4};
  const WeightSource source{w, 1, 2};
  std::vector<std::byte> panels(gemm_packed_bytes(kernels, Precision::kBf16, source));
  const Bf16 a[] = {to_bf16(1), to_bf16(2)};
  float c = 0;
  GemmParams p{};
  p.a_MK = a;
  p.rows = 1;
  p.weights = gemm_pack(kernels, Precision::kBf16, source, panels.data());
  p.c_MN = &c;
  const uint64_t widened = calls_of(Precision::kBf16, kAvx512), multiplied = calls_of(Precision::kBf16, kAvx512Bf16);
  gemm(kernels, p);
  EXPECT_EQ(c, 11);
  EXPECT_EQ(calls_of(Precision::kBf16, kAvx512) - widened, 1u);
  EXPECT_EQ(calls_of(Precision::kBf16, kAvx512Bf16) - multiplied, 0u);
  EXPECT_EQ(attention_table_level(kernels, Precision::kBf16, 64), kAvx512);
}

}  // namespace
}  // namespace deberta::choice_test
