// The choice of kernels: names, caps, counters.
#include "kernels/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/choice.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"
#include "support/expect_error.h"

namespace deberta::dispatch_test {
namespace {

uint64_t calls_of(Operation operation, KernelLevel level) {
  for (const KernelCount& count : kernel_counts()) {
    if (count.operation == operation && count.precision == Precision::kFp32 && count.level == level) return count.calls;
  }
  return 0;
}

void run_one_gemm(const KernelSet& kernels) {
  const float a[] = {1, 2};
  const float w[] = {3, 4};
  const WeightSource source{w, 1, 2};
  std::vector<std::byte> panels(gemm_packed_bytes(kernels, Precision::kFp32, source));
  float c = 0;
  GemmParams p{};
  p.a_MK = a;
  p.rows = 1;
  p.weights = gemm_pack(kernels, Precision::kFp32, source, panels.data());
  p.c_MN = &c;
  gemm(kernels, p);
  EXPECT_EQ(c, 11);
}

// What a cap means for fp32.
KernelLevel fp32_level(KernelLevel cap) {
  switch (cap) {
    case KernelLevel::kReference:
    case KernelLevel::kAvx2:
    case KernelLevel::kAvx512:
      return cap;
    case KernelLevel::kAvxVnni:
      return KernelLevel::kAvx2;
    case KernelLevel::kAvx512Vnni:
    case KernelLevel::kAvx512Bf16:
    case KernelLevel::kAmx:
      break;
  }
  return KernelLevel::kAvx512;
}

TEST(Dispatch, OnlyTheForcedImplementationRuns) {
  for (const KernelLevel forced : available_levels()) {
    std::vector<uint64_t> before;
    for (const KernelLevel level : available_levels()) before.push_back(calls_of(Operation::kGemm, level));
    run_one_gemm(select_kernels(to_string(forced)));
    const KernelLevel runs = fp32_level(forced);
    for (size_t i = 0; i < before.size(); ++i) {
      const KernelLevel level = available_levels()[i];
      EXPECT_EQ(calls_of(Operation::kGemm, level) - before[i], level == runs ? 1u : 0u)
          << "forced " << to_string(forced) << ", counted " << to_string(level);
    }
  }
}

TEST(Dispatch, AutoAndCheckTakeTheChoiceForThisProcessor) {
  EXPECT_EQ(select_kernels("auto").levels, automatic_choice().levels);
  EXPECT_EQ(select_kernels("auto").check, nullptr);
  EXPECT_EQ(select_kernels("check").levels, automatic_choice().levels);
  EXPECT_NE(select_kernels("check").check, nullptr);
}

TEST(Dispatch, AnOperationWithoutThatLevelTakesTheNextLower) {
  for (const KernelLevel level : available_levels()) {
    EXPECT_EQ(select_kernels(to_string(level)).level_of(Operation::kLayerNorm), fp32_level(level));
    EXPECT_EQ(select_kernels(to_string(level)).level_of(Operation::kGemm), fp32_level(level));
  }
}

TEST(Dispatch, UnknownNamesListWhatThisProcessorHas) {
  EXPECT_ERROR(select_kernels("avx9000"), kKernels,
               "unknown name \"avx9000\"; this processor has auto, check, reference");
  EXPECT_ERROR(select_kernels(""), kKernels, "unknown name");
  EXPECT_ERROR(select_kernels("AVX2"), kKernels, "unknown name");
  EXPECT_ERROR(select_kernels("cuda"), kKernels, "unknown name \"cuda\"");
  try {
    select_kernels("avx9000");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
  }
}

bool is_available(KernelLevel level) {
  const std::vector<KernelLevel> available = available_levels();
  return std::find(available.begin(), available.end(), level) != available.end();
}

TEST(Dispatch, LevelsThatTheProcessorLacksAreAnError) {
  size_t lacking = 0;
  for (const KernelLevel level : kLevels) {
    if (is_available(level)) continue;
    ++lacking;
    EXPECT_ERROR(select_kernels(to_string(level)), kKernels, "cannot run " + std::string(to_string(level)));
  }
  if (lacking == 0) GTEST_SKIP() << "this processor has every level";
}

constexpr auto kNameOfLevel = [](const auto& info) { return std::string(to_string(info.param)); };

// Lists what the tests of this program leave out on this machine.
class EveryLevel : public testing::TestWithParam<KernelLevel> {};
INSTANTIATE_TEST_SUITE_P(Levels, EveryLevel, testing::ValuesIn(kLevels), kNameOfLevel);

TEST_P(EveryLevel, HasAnImplementationThatRunsHere) {
  if (!is_available(GetParam())) GTEST_SKIP() << "this processor has no " << to_string(GetParam());
  const ChosenLevels levels = select_kernels(to_string(GetParam())).levels;
  EXPECT_TRUE(std::any_of(levels.begin(), levels.end(), [&](const auto& of_precisions) {
    return std::find(of_precisions.begin(), of_precisions.end(), GetParam()) != of_precisions.end();
  }));
}

TEST(Dispatch, CheckKeepsTheWorstDifference) {
  KernelCheck check;
  check.record(Operation::kGemm, 1e-7, "first");
  check.record(Operation::kGemm, 1e-3, "second");
  check.record(Operation::kGemm, 1e-5, "third");
  EXPECT_EQ(check.worst(Operation::kGemm).calls, 3u);
  EXPECT_EQ(check.worst(Operation::kGemm).worst, 1e-3);
  EXPECT_EQ(check.worst(Operation::kGemm).where, "second");
  check.record(Operation::kGemm, std::nan(""), "not a number");
  EXPECT_EQ(check.worst(Operation::kGemm).worst, std::numeric_limits<double>::infinity());
  EXPECT_EQ(check.worst(Operation::kAttention).calls, 0u);
}

}  // namespace
}  // namespace deberta::dispatch_test
