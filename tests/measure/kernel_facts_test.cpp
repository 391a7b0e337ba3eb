// What is reported about the choice of kernels, for processors other than this one, by their figures.
#include "measure/kernel_facts.h"

#include <gtest/gtest.h>

#include <string>

#include "measure/machine.h"

namespace deberta::measure::kernel_facts_test {
namespace {

const LevelSet kAll = (1u << kKernelLevels) - 1;
const LevelSet kWithoutTiles = kAll & ~level_bit(KernelLevel::kAmx);

Choice emerald(LevelSet usable) {
  return choose({"GenuineIntel", "", 6, 207}, usable, [](LevelSet) { return Peaks{}; });
}

Choice measured(double wide, double dp_bf16) {
  static Peaks peaks;
  peaks = {};
  peaks.of(Precision::kFp32, KernelLevel::kAvx512) = peaks.of(Precision::kBf16, KernelLevel::kAvx512) = wide;
  peaks.of(Precision::kBf16, KernelLevel::kAvx512Bf16) = dp_bf16;
  return choose({}, kWithoutTiles, [](LevelSet) { return peaks; });
}

TEST(KernelFacts, TheFiguresBeginWithWhatRuns) {
  const Choice choice = emerald(kWithoutTiles);
  EXPECT_EQ(figures_of(choice, kWithoutTiles, Operation::kGemm, Precision::kBf16),
            "avx512 64, avx2 32, avx512_bf16 32 operations per cycle and core (Emerald Rapids)");
  EXPECT_EQ(figures_of(emerald(kAll), kAll, Operation::kAttention, Precision::kBf16),
            "amx 1024, avx512 64, avx2 32, avx512_bf16 32 operations per cycle and core (Emerald Rapids)");
  EXPECT_EQ(figures_of(measured(172.4e9, 200e9), kWithoutTiles, Operation::kGemm, Precision::kBf16),
            "avx512_bf16 200, avx512 172 billion operations per second and core (measured)");
  EXPECT_EQ(figures_of({}, level_bit(KernelLevel::kReference), Operation::kGemm, Precision::kBf16),
            "nothing else can run here");
}

TEST(KernelFacts, APrecisionThatGainsNothingIsSaid) {
  const Choice choice = emerald(kWithoutTiles);
  EXPECT_EQ(precision_note(choice.levels, choice, Precision::kBf16),
            "note: --dtype bf16 saves memory, not time: bf16 by avx512 64, fp32 by avx512 64 operations per cycle "
            "and core (Emerald Rapids)");
  EXPECT_EQ(precision_note(choice.levels, choice, Precision::kInt8), "");
  EXPECT_EQ(precision_note(choice.levels, choice, Precision::kFp32), "");
  const Choice with_tiles = emerald(kAll);
  EXPECT_EQ(precision_note(with_tiles.levels, with_tiles, Precision::kBf16), "");
  EXPECT_EQ(precision_note(capped_levels(kAll, KernelLevel::kAvx512), with_tiles, Precision::kBf16),
            "note: --dtype bf16 saves memory, not time: bf16 by avx512 64, fp32 by avx512 64 operations per cycle "
            "and core (Emerald Rapids)");
  EXPECT_EQ(precision_note({}, {}, Precision::kInt8),
            "note: --dtype int8 saves memory, not time: the reference computes every precision in the same way");
}

TEST(KernelFacts, BenchSaysWhereItsPeaksSpeakForAnotherChoice) {
  const Choice choice = emerald(kWithoutTiles);
  EXPECT_EQ(other_choice(choice, kWithoutTiles, choice.peaks), "");
  Peaks peaks = choice.peaks;
  peaks.of(Precision::kBf16, KernelLevel::kAvx512Bf16) *= 4;
  EXPECT_EQ(other_choice(choice, kWithoutTiles, peaks),
            "note: by the peaks just measured, avx512_bf16 would multiply bf16 faster than avx512, the implementation "
            "chosen");
}

}  // namespace
}  // namespace deberta::measure::kernel_facts_test
