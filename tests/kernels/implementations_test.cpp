// The table of implementations and what follows from it. Which level each operation takes, for every set of features
// that a processor may have and every name that a user may give, is written out here: a change of the table that moves
// a choice changes bits on some machine.
#include "kernels/implementations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/choice.h"
#include "support/expect_error.h"

namespace deberta::implementations_test {
namespace {

template <class Value>
concept IsOrdered = requires(Value a, Value b) {
  a < b;
};
static_assert(!IsOrdered<KernelLevel>, "a level is no step of a ladder");

// One for each level: the reference, avx2, avx_vnni, avx512, avx512_vnni, avx512_bf16, amx.
constexpr std::string_view kLetters = "r2v5Vba";

char letter(KernelLevel level) {
  return kLetters[static_cast<size_t>(level)];
}

std::string letters(LevelSet set) {
  std::string text;
  for (const KernelLevel level : kLevels) {
    if ((set & level_bit(level)) != 0) text += letter(level);
  }
  return text;
}

// What a processor can run: bit n of the index is the feature n.
constexpr std::string_view kUsable[] = {
    "r", "r2", "r", "r2v", "r", "r25",  "r", "r2v5",  "r", "r2", "r", "r2v", "r", "r25V",   "r", "r2v5V",
    "r", "r2", "r", "r2v", "r", "r25b", "r", "r2v5b", "r", "r2", "r", "r2v", "r", "r25Vb",  "r", "r2v5Vb",
    "r", "r2", "r", "r2v", "r", "r25",  "r", "r2v5",  "r", "r2", "r", "r2v", "r", "r25V",   "r", "r2v5V",
    "r", "r2", "r", "r2v", "r", "r25b", "r", "r2v5b", "r", "r2", "r", "r2v", "r", "r25Vba", "r", "r2v5Vba",
};

// For all that can run: the level asked for by name, or a kind of processor that chooses; the levels in fp32, bf16 and
// int8 of gemm, of attention and its gradient, and of these with heads of 48; the level of all other operations.
struct Expected {
  std::string_view usable;
  std::string_view name;
  std::string_view gemm;
  std::string_view attention;
  std::string_view heads_of_48;
  char other_letters;
};
constexpr Expected kExpected[] = {
    {"r", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r", "Zen 4", "rrr", "rrr", "rrr", 'r'},
    {"r", "Zen 5", "rrr", "rrr", "rrr", 'r'},
    {"r", "Sapphire Rapids", "rrr", "rrr", "rrr", 'r'},
    {"r", "Emerald Rapids", "rrr", "rrr", "rrr", 'r'},
    {"r2", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r2", "avx2", "222", "22r", "22r", '2'},
    {"r2", "Zen 4", "222", "22r", "22r", '2'},
    {"r2", "Zen 5", "222", "22r", "22r", '2'},
    {"r2", "Sapphire Rapids", "222", "22r", "22r", '2'},
    {"r2", "Emerald Rapids", "222", "22r", "22r", '2'},
    {"r2v", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r2v", "avx2", "222", "22r", "22r", '2'},
    {"r2v", "avx_vnni", "22v", "22r", "22r", '2'},
    {"r2v", "Zen 4", "222", "22r", "22r", '2'},
    {"r2v", "Zen 5", "22v", "22r", "22r", '2'},
    {"r2v", "Sapphire Rapids", "22v", "22r", "22r", '2'},
    {"r2v", "Emerald Rapids", "22v", "22r", "22r", '2'},
    {"r25", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r25", "avx2", "222", "22r", "22r", '2'},
    {"r25", "avx512", "555", "55r", "55r", '5'},
    {"r25", "Zen 4", "555", "55r", "55r", '5'},
    {"r25", "Zen 5", "555", "55r", "55r", '5'},
    {"r25", "Sapphire Rapids", "555", "55r", "55r", '5'},
    {"r25", "Emerald Rapids", "555", "55r", "55r", '5'},
    {"r2v5", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r2v5", "avx2", "222", "22r", "22r", '2'},
    {"r2v5", "avx_vnni", "22v", "22r", "22r", '2'},
    {"r2v5", "avx512", "555", "55r", "55r", '5'},
    {"r2v5", "Zen 4", "555", "55r", "55r", '5'},
    {"r2v5", "Zen 5", "555", "55r", "55r", '5'},
    {"r2v5", "Sapphire Rapids", "55v", "55r", "55r", '5'},
    {"r2v5", "Emerald Rapids", "55v", "55r", "55r", '5'},
    {"r25V", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r25V", "avx2", "222", "22r", "22r", '2'},
    {"r25V", "avx512", "555", "55r", "55r", '5'},
    {"r25V", "avx512_vnni", "55V", "55r", "55r", '5'},
    {"r25V", "Zen 4", "55V", "55r", "55r", '5'},
    {"r25V", "Zen 5", "55V", "55r", "55r", '5'},
    {"r25V", "Sapphire Rapids", "55V", "55r", "55r", '5'},
    {"r25V", "Emerald Rapids", "55V", "55r", "55r", '5'},
    {"r2v5V", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r2v5V", "avx2", "222", "22r", "22r", '2'},
    {"r2v5V", "avx_vnni", "22v", "22r", "22r", '2'},
    {"r2v5V", "avx512", "555", "55r", "55r", '5'},
    {"r2v5V", "avx512_vnni", "55V", "55r", "55r", '5'},
    {"r2v5V", "Zen 4", "55V", "55r", "55r", '5'},
    {"r2v5V", "Zen 5", "55V", "55r", "55r", '5'},
    {"r2v5V", "Sapphire Rapids", "55V", "55r", "55r", '5'},
    {"r2v5V", "Emerald Rapids", "55V", "55r", "55r", '5'},
    {"r25b", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r25b", "avx2", "222", "22r", "22r", '2'},
    {"r25b", "avx512", "555", "55r", "55r", '5'},
    {"r25b", "avx512_bf16", "5b5", "5br", "55r", '5'},
    {"r25b", "Zen 4", "5b5", "5br", "55r", '5'},
    {"r25b", "Zen 5", "5b5", "5br", "55r", '5'},
    {"r25b", "Sapphire Rapids", "555", "55r", "55r", '5'},
    {"r25b", "Emerald Rapids", "555", "55r", "55r", '5'},
    {"r2v5b", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r2v5b", "avx2", "222", "22r", "22r", '2'},
    {"r2v5b", "avx_vnni", "22v", "22r", "22r", '2'},
    {"r2v5b", "avx512", "555", "55r", "55r", '5'},
    {"r2v5b", "avx512_bf16", "5b5", "5br", "55r", '5'},
    {"r2v5b", "Zen 4", "5b5", "5br", "55r", '5'},
    {"r2v5b", "Zen 5", "5b5", "5br", "55r", '5'},
    {"r2v5b", "Sapphire Rapids", "55v", "55r", "55r", '5'},
    {"r2v5b", "Emerald Rapids", "55v", "55r", "55r", '5'},
    {"r25Vb", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r25Vb", "avx2", "222", "22r", "22r", '2'},
    {"r25Vb", "avx512", "555", "55r", "55r", '5'},
    {"r25Vb", "avx512_vnni", "55V", "55r", "55r", '5'},
    {"r25Vb", "avx512_bf16", "5bV", "5br", "55r", '5'},
    {"r25Vb", "Zen 4", "5bV", "5br", "55r", '5'},
    {"r25Vb", "Zen 5", "5bV", "5br", "55r", '5'},
    {"r25Vb", "Sapphire Rapids", "55V", "55r", "55r", '5'},
    {"r25Vb", "Emerald Rapids", "55V", "55r", "55r", '5'},
    {"r2v5Vb", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r2v5Vb", "avx2", "222", "22r", "22r", '2'},
    {"r2v5Vb", "avx_vnni", "22v", "22r", "22r", '2'},
    {"r2v5Vb", "avx512", "555", "55r", "55r", '5'},
    {"r2v5Vb", "avx512_vnni", "55V", "55r", "55r", '5'},
    {"r2v5Vb", "avx512_bf16", "5bV", "5br", "55r", '5'},
    {"r2v5Vb", "Zen 4", "5bV", "5br", "55r", '5'},
    {"r2v5Vb", "Zen 5", "5bV", "5br", "55r", '5'},
    {"r2v5Vb", "Sapphire Rapids", "55V", "55r", "55r", '5'},
    {"r2v5Vb", "Emerald Rapids", "55V", "55r", "55r", '5'},
    {"r25Vba", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r25Vba", "avx2", "222", "22r", "22r", '2'},
    {"r25Vba", "avx512", "555", "55r", "55r", '5'},
    {"r25Vba", "avx512_vnni", "55V", "55r", "55r", '5'},
    {"r25Vba", "avx512_bf16", "5bV", "5br", "55r", '5'},
    {"r25Vba", "amx", "5aa", "5ar", "55r", '5'},
    {"r25Vba", "Zen 4", "5bV", "5br", "55r", '5'},
    {"r25Vba", "Zen 5", "5bV", "5br", "55r", '5'},
    {"r25Vba", "Sapphire Rapids", "5aa", "5ar", "55r", '5'},
    {"r25Vba", "Emerald Rapids", "5aa", "5ar", "55r", '5'},
    {"r2v5Vba", "reference", "rrr", "rrr", "rrr", 'r'},
    {"r2v5Vba", "avx2", "222", "22r", "22r", '2'},
    {"r2v5Vba", "avx_vnni", "22v", "22r", "22r", '2'},
    {"r2v5Vba", "avx512", "555", "55r", "55r", '5'},
    {"r2v5Vba", "avx512_vnni", "55V", "55r", "55r", '5'},
    {"r2v5Vba", "avx512_bf16", "5bV", "5br", "55r", '5'},
    {"r2v5Vba", "amx", "5aa", "5ar", "55r", '5'},
    {"r2v5Vba", "Zen 4", "5bV", "5br", "55r", '5'},
    {"r2v5Vba", "Zen 5", "5bV", "5br", "55r", '5'},
    {"r2v5Vba", "Sapphire Rapids", "5aa", "5ar", "55r", '5'},
    {"r2v5Vba", "Emerald Rapids", "5aa", "5ar", "55r", '5'},
};

const Expected* find_expected(std::string_view usable, std::string_view name) {
  const auto* entry = std::find_if(std::begin(kExpected), std::end(kExpected),
                                   [&](const Expected& row) { return row.usable == usable && row.name == name; });
  return entry != std::end(kExpected) ? entry : nullptr;
}

bool is_attention(Operation operation) {
  return operation == Operation::kAttention || operation == Operation::kAttentionBackward;
}

std::string levels_expected(const Expected& row, Operation operation) {
  if (operation == Operation::kGemm) return std::string(row.gemm);
  return is_attention(operation) ? std::string(row.attention) : std::string(kPrecisions, row.other_letters);
}

std::string levels_of(const ChosenLevels& chosen, Operation operation) {
  std::string text;
  for (const KernelLevel level : chosen[static_cast<size_t>(operation)]) text += letter(level);
  return text;
}

std::string levels_for_heads(LevelSet usable, const ChosenLevels& chosen, Operation operation, size_t head_size) {
  std::string text;
  for (const Precision precision : kAllPrecisions) {
    const KernelLevel level = chosen[static_cast<size_t>(operation)][static_cast<size_t>(precision)];
    text += letter(level_for_heads(usable, operation, precision, level, head_size));
  }
  return text;
}

void expect_choice(LevelSet usable, std::string_view name, const ChosenLevels& chosen) {
  const Expected* row = find_expected(letters(usable), name);
  ASSERT_NE(row, nullptr) << letters(usable) << ", " << name;
  for (size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const std::string where = letters(usable) + ", " + std::string(name) + ", " + std::string(to_string(operation));
    EXPECT_EQ(levels_of(chosen, operation), levels_expected(*row, operation)) << where;
    if (!is_attention(operation)) continue;
    EXPECT_EQ(levels_for_heads(usable, chosen, operation, 64), row->attention) << where << ", heads of 64";
    EXPECT_EQ(levels_for_heads(usable, chosen, operation, 48), row->heads_of_48) << where << ", heads of 48";
    EXPECT_EQ(levels_for_heads(usable, chosen, operation, 24), "rrr") << where << ", heads of 24";
  }
}

std::string refusal(LevelSet usable, std::string_view name) {
  std::string text = "this processor cannot run " + std::string(name) + "; it has auto, check";
  for (const KernelLevel level : kLevels) {
    if ((usable & level_bit(level)) != 0) text += ", " + std::string(to_string(level));
  }
  return text;
}

TEST(Implementations, EveryNameChoosesAsWrittenHereOnEverySetOfFeatures) {
  for (FeatureSet features = 0; features < std::size(kUsable); ++features) {
    const LevelSet usable = runnable_levels(Device::kCpu, features);
    ASSERT_EQ(letters(usable), kUsable[features]) << "features " << features;
    for (const ImplementationRow& row : implementation_table()) {
      if ((usable & level_bit(row.level)) != 0) {
        expect_choice(usable, row.name, forced_levels(row.name, usable));
      } else {
        EXPECT_ERROR(forced_levels(row.name, usable), kKernels, refusal(usable, row.name));
      }
    }
  }
}

TEST(Implementations, EveryKindOfProcessorChoosesAsWrittenHereOnEverySetOfFeatures) {
  for (FeatureSet features = 0; features < std::size(kUsable); ++features) {
    const LevelSet usable = runnable_levels(Device::kCpu, features);
    for (const ProcessorKind& kind : processor_kinds())
      expect_choice(usable, kind.name, fastest_levels(usable, kind.peaks));
  }
}

TEST(Implementations, ARowRunsOnItsOwnDeviceAlone) {
  EXPECT_EQ(runnable_levels(Device::kCuda, ~FeatureSet{0}), 0u);
}

TEST(Implementations, EveryRowHasANameOfItsOwn) {
  std::set<std::string_view> names = {"auto", "check"};  // select_kernels
  for (const ImplementationRow& row : implementation_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(&implementation(row.level), &row) << row.name;
  }
}

// A product without its epilogue, or a level of unknown speed, would be noticed only where it runs.
TEST(Implementations, EveryRowIsWhole) {
  for (const ImplementationRow& row : implementation_table().subspan(1)) {
    const auto has_beside = [&](auto part) {
      const auto rows = rows_up_to(row.level);
      return std::any_of(rows.begin(), rows.end(), [&](const ImplementationRow& other) {
        return other.*part != nullptr && has_all(row.needs, other.needs);
      });
    };
    EXPECT_NE(row.needs, 0u) << row.name;
    EXPECT_NE(row.peaks, nullptr) << row.name;
    EXPECT_TRUE(has_beside(&ImplementationRow::rows)) << row.name;
    EXPECT_TRUE(has_beside(&ImplementationRow::pack)) << row.name;
    EXPECT_TRUE(has_beside(&ImplementationRow::finish)) << row.name;
    for (const Precision precision : kAllPrecisions) {
      EXPECT_EQ(row.multipliers.of(precision).empty(), row.gemm.of(precision) == nullptr) << row.name;
    }
  }
}

TEST(Implementations, WhatGoesWithProductsIsTheWidestThatTheLevelIncludes) {
  const LevelSet usable = usable_levels();
  const auto pack = [](KernelLevel level) { return kernel_of(level, &ImplementationRow::pack); };
  const auto finish = [](KernelLevel level) { return kernel_of(level, &ImplementationRow::finish); };
  const auto expect_same = [&](KernelLevel level, KernelLevel other) {
    if ((usable & level_bit(level)) == 0) return;
    EXPECT_EQ(pack(level), pack(other)) << to_string(level);
    EXPECT_EQ(finish(level), finish(other)) << to_string(level);
  };
  EXPECT_EQ(pack(KernelLevel::kReference), nullptr);
  EXPECT_EQ(finish(KernelLevel::kReference), nullptr);
  expect_same(KernelLevel::kAvxVnni, KernelLevel::kAvx2);
  for (const KernelLevel level : {KernelLevel::kAvx512Vnni, KernelLevel::kAvx512Bf16, KernelLevel::kAmx})
    expect_same(level, KernelLevel::kAvx512);
  if ((usable & level_bit(KernelLevel::kAvx512Bf16)) != 0) {
    const auto products = [](KernelLevel level) {
      return kernel_of(level, &ImplementationRow::gemm, Precision::kInt8);
    };
    EXPECT_EQ(products(KernelLevel::kAvx512Bf16), products(KernelLevel::kAvx512)) << "BF16 brings no VNNI";
  }
  if ((usable & level_bit(KernelLevel::kAvx512)) == 0) GTEST_SKIP() << "this processor has no AVX-512 to tell apart";
  EXPECT_NE(pack(KernelLevel::kAvx512), pack(KernelLevel::kAvx2));
  EXPECT_NE(finish(KernelLevel::kAvx512), finish(KernelLevel::kAvx2));
}

}  // namespace
}  // namespace deberta::implementations_test
