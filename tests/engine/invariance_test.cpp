// A result does not depend on order, earlier calls or callers, bit for bit (packing and threads:
// batch_invariance_test); masks and lengths at their limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "engine/engine_case.h"
#include "kernels/dispatch.h"

namespace deberta::invariance_test {
namespace {

using namespace test;

TEST(Invariance, PermutingTheBatchPermutesTheResult) {
  std::vector<std::vector<int32_t>> rows;
  for (const size_t length : {1u, 2u, 7u, 16u, 33u, 64u, 129u, 257u}) rows.push_back(make_ids(length, length));
  const Model model = load_tiny(tiny_config(), Head::kSequence);
  const ForwardResult forward = run(model, make_batch(rows));
  std::reverse(rows.begin(), rows.end());
  const ForwardResult backward = run(model, make_batch(rows));
  ASSERT_EQ(forward.logits_rows, rows.size());
  ASSERT_EQ(forward.logits_columns, 3u);
  for (size_t b = 0; b < rows.size(); ++b) {
    const size_t other = rows.size() - 1 - b;
    EXPECT_EQ(slice(forward.logits, b * 3, b * 3 + 3), slice(backward.logits, other * 3, other * 3 + 3));
  }
}

TEST(Invariance, ALongerBatchInBetweenChangesNothing) {
  const Model model = load_tiny(tiny_config());
  const Batch small = make_batch({make_ids(1, 20)});
  const auto before = last_hidden(model, small);
  last_hidden(model, make_batch({make_ids(2, 600), make_ids(3, 40)}));  // arena and table of rows grow
  EXPECT_EQ(last_hidden(model, small), before);
}

TEST(Invariance, CallsFromSeveralThreadsTakeTurns) {
  const Model model = load_tiny(tiny_config(), Head::kNone, {.threads = 2});
  const auto expected = last_hidden(model, make_batch({make_ids(1, 30)}));
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> callers;
  for (auto& result : results) {
    callers.emplace_back([&] { result = last_hidden(model, make_batch({make_ids(1, 30)})); });
  }
  for (std::thread& caller : callers) caller.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

// Padded rows, packed and run; the hidden rows of unmasked tokens by their position in the padded input.
std::vector<std::vector<float>> run_padded(const Model& model, const std::vector<int32_t>& ids,
                                           const std::vector<uint8_t>& mask) {
  const PackedRows packed = pack({.sequences = 1, .length = ids.size(), .ids_BL = ids, .mask_BL = mask});
  const std::vector<float> hidden = last_hidden(model, packed.batch);
  std::vector<std::vector<float>> rows(ids.size());
  for (size_t t = 0; t < packed.rows_T.size(); ++t)
    rows[static_cast<size_t>(packed.rows_T[t])] = slice(hidden, t * 16, t * 16 + 16);
  return rows;
}

TEST(Masks, WhatIsUnderAMaskChangesNothing) {
  const Model model = load_tiny(tiny_config());
  std::vector<int32_t> ids = make_ids(1, 24);
  std::vector<uint8_t> mask(24, 1);
  for (const size_t i : {0u, 1u, 5u, 6u, 13u, 22u, 23u}) mask[i] = 0;
  const auto before = run_padded(model, ids, mask);
  for (size_t i = 0; i < 24; ++i) ids[i] = mask[i] != 0 ? ids[i] : 49 - ids[i];
  const auto after = run_padded(model, ids, mask);
  for (size_t i = 0; i < 24; ++i) {
    if (mask[i] == 0) continue;
    EXPECT_EQ(before[i], after[i]) << i;
  }
}

TEST(Masks, AHoleKeepsDistancesAndDiffersFromLeavingItOut) {
  const Model model = load_tiny(tiny_config());
  const std::vector<int32_t> ids = make_ids(1, 12);
  std::vector<uint8_t> mask(12, 1);
  mask[5] = 0;
  const auto with_hole = run_padded(model, ids, mask);
  std::vector<int32_t> compact = ids;
  compact.erase(compact.begin() + 5);
  const auto without = run_padded(model, compact, std::vector<uint8_t>(11, 1));
  EXPECT_NE(with_hole[0], without[0]);
}

TEST(Masks, LeftAndRightPaddingEqualTheBareSequence) {
  const Model model = load_tiny(tiny_config());
  const std::vector<int32_t> ids = make_ids(1, 9);
  const auto bare = run_padded(model, ids, {});
  std::vector<int32_t> left(100, 7);
  std::vector<uint8_t> mask(100, 0);
  std::copy(ids.begin(), ids.end(), left.begin() + 88);
  std::fill_n(mask.begin() + 88, 9, uint8_t{1});
  const auto padded = run_padded(model, left, mask);
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(padded[88 + i], bare[i]);
}

TEST(Masks, LeftPaddingKeepsAbsolutePositions) {
  ModelConfig config = tiny_config();
  config.position_biased_input = true;
  const Model model = load_tiny(config);
  const auto at_0 = run_padded(model, {9, 8, 7, 0}, {1, 1, 1, 0});
  const auto at_1 = run_padded(model, {0, 9, 8, 7}, {0, 1, 1, 1});
  EXPECT_NE(at_0[0], at_1[1]);
  Batch batch = make_batch({{9, 8, 7}});
  batch.position_ids_T = {1, 2, 3};
  EXPECT_EQ(slice(last_hidden(model, batch), 0, 16), at_1[1]);
}

TEST(Masks, AllMaskedAndEmptySequencesAreFiniteAndLeaveOthersAlone) {
  const Model model = load_tiny(tiny_config(), Head::kSequence);
  const ForwardResult alone = run(model, make_batch({make_ids(1, 5)}));
  const ForwardResult with_empty = run(model, make_batch({{}, make_ids(1, 5), {}}));
  EXPECT_EQ(slice(with_empty.logits, 3, 6), alone.logits);
  EXPECT_EQ(slice(with_empty.logits, 0, 3), std::vector<float>(3, 0.0f));
  EXPECT_EQ(slice(with_empty.pooled_BD, 32, 48), std::vector<float>(16, 0.0f));
  Batch masked = make_batch({make_ids(2, 4), make_ids(1, 5)});
  masked.mask_T = {0, 0, 0, 0, 1, 1, 1, 1, 1};
  const ForwardResult result = run(model, masked);
  EXPECT_EQ(slice(result.logits, 3, 6), alone.logits);
  for (const float x : result.logits) EXPECT_TRUE(std::isfinite(x));
}

TEST(Masks, ABatchWithoutTokensGivesNoRows) {
  const Model model = load_tiny(tiny_config(), Head::kToken);
  EXPECT_EQ(run(model, Batch{}).logits_rows, 0u);
  EXPECT_EQ(run(model, make_batch({{}})).logits_rows, 0u);
  EXPECT_EQ(run(load_tiny(tiny_config(), Head::kSequence), Batch{}).logits.size(), 0u);
}

TEST(Kernels, EveryLevelGivesNearlyTheSameAndCheckFindsNoDifference) {
  const Batch batch = make_batch({make_ids(1, 40), make_ids(2, 9)});
  const auto expected =
      last_hidden(load_tiny(with_fast_heads(), Head::kNone, {.threads = 1, .kernels = "reference"}), batch);
  for (const KernelLevel level : available_levels()) {
    const Model model =
        load_tiny(with_fast_heads(), Head::kNone, {.threads = 2, .kernels = std::string(to_string(level))});
    const auto hidden = last_hidden(model, batch);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(hidden[i], expected[i], 2e-5) << to_string(level);
  }
  const auto checked =
      last_hidden(load_tiny(with_fast_heads(), Head::kNone, {.threads = 2, .kernels = "check"}), batch);
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(checked[i], expected[i], 2e-5);
}

}  // namespace
}  // namespace deberta::invariance_test
