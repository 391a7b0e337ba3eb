// Which samples a step takes: every number once, the same number of tokens in every step, longer sequences at the end.
#include "train/data/step_plan.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace deberta::train::step_plan_test {
namespace {

TEST(StepPlan, EachSampleBelongsToOneStepAndEachStepHasTheSameTokens) {
  const StepPlan plan(8192, {{0, 128}, {17, 512}, {20, 256}});
  uint64_t next = 0;
  for (uint64_t step = 0; step < 40; ++step) {
    const StepSamples samples = plan.at(step);
    EXPECT_EQ(samples.first, next) << step;
    EXPECT_EQ(samples.count * samples.max_tokens, 8192u) << step;
    next += samples.count;
  }
  EXPECT_EQ(plan.at(16).max_tokens, 128u);
  EXPECT_EQ(plan.at(17).max_tokens, 512u);
  EXPECT_EQ(plan.at(17).first, 17 * 64u);
  EXPECT_EQ(plan.at(17).first_in_stage, 0u);
  EXPECT_EQ(plan.at(19).first_in_stage, 32u);
  EXPECT_EQ(plan.at(20).first, 17 * 64u + 3 * 16u);
  EXPECT_EQ(plan.at(20).stage, 2u);
}

TEST(StepPlan, TheLastShareOfTheStepsIsLong) {
  const auto stages = two_lengths(1000, 128, 512, 0.15);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[1].first_step, 850u);
  EXPECT_EQ(stages[1].max_tokens, 512u);
  EXPECT_EQ(two_lengths(1000, 128, 512, 0).size(), 1u);
  EXPECT_EQ(two_lengths(1000, 128, 512, 1).front().max_tokens, 512u);
}

TEST(StepPlan, WhatIsNoPlanIsRefused) {
  EXPECT_ERROR(StepPlan(1000, {{0, 128}}), kUsage, "expected a multiple of the sequence length 128, got 1000; 1024");
  EXPECT_ERROR(StepPlan(64, {{0, 128}}), kUsage, "tokens_per_step");
  EXPECT_ERROR(StepPlan(64, {{0, 2}}), kUsage, "max_seq_length");
  EXPECT_ERROR(StepPlan(64, {}), kUsage, "stages");
  EXPECT_ERROR(StepPlan(64, {{1, 32}}), kUsage, "stages");
  EXPECT_ERROR(StepPlan(64, {{0, 32}, {5, 16}, {5, 8}}), kUsage, "expected a first step above 5, got 5");
}

}  // namespace
}  // namespace deberta::train::step_plan_test
