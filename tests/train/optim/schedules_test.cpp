// Every schedule at chosen steps. Those of the original code are also in original_goldens_test.cpp.
#include "train/optim/schedules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "support/expect_error.h"

namespace deberta::train::schedules_test {
namespace {

double factor(const char* name, int64_t step, const ScheduleSettings& settings) {
  return find_schedule(name).factor(step, settings);
}

// By hand from the formulas in transformers/optimization.py.
struct Case {
  const char* name;
  ScheduleSettings settings;
  int64_t step;
  double expected;
};

TEST(Schedules, OfTransformersAreAsByHand) {
  const ScheduleSettings plain{.total = 10, .warmup = 2}, none{.total = 10};
  ScheduleSettings cycles = plain, power = plain, time = plain, linear = plain, root = plain,
                   part{.total = 25, .warmup = 0.1};
  cycles.cycles = 2;
  power.power = 2;
  power.ends = 0.1;
  time.timescale = 8;
  linear.decay = 4;
  linear.shape = DecayShape::kLinear;
  linear.ends = 0.2;
  root.decay = 0.4;
  root.shape = DecayShape::kOneMinusSqrt;
  ScheduleSettings wave = linear;
  wave.shape = DecayShape::kCosine;
  const double half_root = std::sqrt(0.5);
  const Case cases[] = {
      {"constant", plain, 0, 1},
      {"constant", plain, 99, 1},
      {"constant_with_warmup", plain, 0, 0},
      {"constant_with_warmup", plain, 1, 0.5},
      {"constant_with_warmup", plain, 2, 1},
      {"constant_with_warmup", plain, 99, 1},
      {"linear", none, 0, 1},
      {"linear", plain, 0, 0},
      {"linear", plain, 1, 0.5},
      {"linear", plain, 2, 1},
      {"linear", plain, 4, 0.75},
      {"linear", plain, 10, 0},
      {"linear", plain, 11, 0},
      {"linear", part, 1, 1.0 / 3},  // 2.5 steps of warm-up are 3
      {"linear", part, 14, 0.5},
      {"cosine", plain, 1, 0.5},
      {"cosine", plain, 4, 0.5 * (1 + half_root)},
      {"cosine", plain, 6, 0.5},
      {"cosine", plain, 10, 0},
      {"cosine", cycles, 4, 0},
      {"cosine", cycles, 6, 1},
      {"cosine_with_restarts", plain, 6, 0.5},
      {"cosine_with_restarts", cycles, 1, 0.5},
      {"cosine_with_restarts", cycles, 4, 0.5},
      {"cosine_with_restarts", cycles, 5, 0.5 * (1 - half_root)},
      {"cosine_with_restarts", cycles, 6, 1},
      {"cosine_with_restarts", cycles, 10, 0},
      {"polynomial", plain, 1, 0.5},
      {"polynomial", plain, 4, 0.75},
      {"polynomial", power, 6, 0.9 * 0.25 + 0.1},
      {"polynomial", power, 10, 0.1},
      {"polynomial", power, 12, 0.1},
      {"inverse_sqrt", plain, 1, 0.5},
      {"inverse_sqrt", plain, 2, 1},
      {"inverse_sqrt", plain, 8, 0.5},
      {"inverse_sqrt", time, 2, 1},
      {"inverse_sqrt", time, 26, 0.5},
      {"inverse_sqrt", none, 30000, 0.5},
      {"warmup_stable_decay", linear, 0, 0.2},
      {"warmup_stable_decay", linear, 1, 0.6},
      {"warmup_stable_decay", linear, 5, 1},
      {"warmup_stable_decay", linear, 6, 1},
      {"warmup_stable_decay", linear, 8, 0.6},
      {"warmup_stable_decay", linear, 10, 0.2},
      {"warmup_stable_decay", linear, 12, 0.2},
      {"warmup_stable_decay", wave, 7, 0.8 * 0.5 * (1 + half_root) + 0.2},
      {"warmup_stable_decay", root, 5, 1},
      {"warmup_stable_decay", root, 7, 0.5},
      {"warmup_stable_decay", root, 10, 0},
  };
  for (const auto& [name, settings, step, expected] : cases)
    EXPECT_NEAR(factor(name, step, settings), expected, 1e-15) << name << " at step " << step;
}

TEST(Schedules, OfTheOriginalAreAsByHand) {
  const ScheduleSettings plain{.total = 10, .warmup = 2}, part{.total = 10, .warmup = 0.2},
      ends{.total = 10, .warmup = 2, .ends = 0.5};
  for (const ScheduleSettings& same : {plain, part}) {
    EXPECT_EQ(factor("warmup_linear", 0, same), 0);
    EXPECT_EQ(factor("warmup_linear", 1, same), 0.5);
    EXPECT_EQ(factor("warmup_linear", 2, same), 0.8);  // it jumps, instead of reaching 1
    EXPECT_EQ(factor("warmup_linear_shift", 2, same), 1);
  }
  EXPECT_NEAR(factor("warmup_linear", 9, ends), 0.55, 1e-15);
  EXPECT_NEAR(factor("warmup_linear_shift", 6, ends), 0.75, 1e-15);
  EXPECT_EQ(factor("warmup_constant", 7, ends), 1);
  EXPECT_EQ(factor("warmup_cosine", 5, ends), 0.5);
  EXPECT_NEAR(factor("warmup_linear_cosine", 6, ends), 0.75, 1e-15);
  const double cyclic[] = {0, 0.5, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0, 0};
  for (int64_t step = 0; step <= 10; ++step)
    EXPECT_NEAR(factor("warmup_cyclic_linear_cosine", step, part), cyclic[step], 1e-15) << step;
  EXPECT_NEAR(factor("warmup_linear", 11, plain), 0.5, 1e-15);  // a run that goes on begins anew
}

TEST(Schedules, HaveEachNameOnceAndWarmUpFromZero) {
  std::set<std::string_view> names;
  const ScheduleSettings settings{.total = 100, .warmup = 10};
  for (const Schedule& schedule : schedules()) {
    EXPECT_TRUE(names.insert(schedule.name).second);
    EXPECT_EQ(&find_schedule(schedule.name), &schedule);
    EXPECT_FALSE(schedule.meaning.empty());
    check_schedule(schedule, settings);
    if (schedule.name == "constant") continue;
    EXPECT_EQ(schedule.factor(0, settings), 0) << schedule.name;
    EXPECT_EQ(schedule.factor(5, settings), 0.5) << schedule.name;
    for (int64_t step = 0; step <= 100; ++step) {
      const double value = schedule.factor(step, settings);
      EXPECT_TRUE(value >= 0 && value <= 1) << schedule.name << " at step " << step << ": " << value;
    }
  }
  EXPECT_EQ(names.size(), 14u);
}

TEST(Schedules, RefuseWhatTheyCannotDo) {
  EXPECT_ERROR(find_schedule("cosin"), kUsage, "lr_scheduler_type: expected one of warmup_linear, ");
  EXPECT_ERROR(find_schedule("cosin"), kUsage, "got cosin; did you mean cosine?");
  const auto check = [](const char* name, const ScheduleSettings& settings) {
    check_schedule(find_schedule(name), settings);
  };
  EXPECT_ERROR(check("linear", {.total = 0}), kUsage, "max_steps: expected at least 1, got 0");
  EXPECT_ERROR(check("linear", {.total = 10, .warmup = 10}), kUsage, "warmup_steps: expected steps below the run's 10");
  EXPECT_ERROR(check("linear", {.total = 10, .warmup = -0.5}), kUsage, "got -0.5");
  EXPECT_ERROR(check("linear", {.total = 10, .warmup = std::nan("")}), kUsage, "warmup_steps");
  EXPECT_ERROR(check("linear", {.total = 10, .ends = 2}), kUsage, "lr_schedule_ends: expected 0 to 1, got 2");
  EXPECT_ERROR(check("warmup_cyclic_linear_cosine", {.total = 5, .warmup = 2}), kUsage,
               "expected at least 4 steps after the warm-up, got 3");
  EXPECT_ERROR(check("warmup_stable_decay", {.total = 10, .warmup = 5, .decay = 6}), kUsage,
               "lr_decay_steps: expected at most the 5 steps");
  check("warmup_stable_decay", {.total = 10, .warmup = 5, .decay = 5});
}

}  // namespace
}  // namespace deberta::train::schedules_test
