// The norm of all gradients, and what clipping by it divides by.
#include "train/optim/gradient_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "optim_case.h"

namespace deberta::train::gradient_norm_test {
namespace {

TEST(GradientNorm, IsThatOfAllParametersTogether) {
  const ParameterLayout layout = test::make_case_layout();
  FlatBuffer gradients(layout);
  test::fill(layout, gradients, 5, 3);
  double sum = 0;
  for (const float value : gradients.all()) sum += double{value} * double{value};
  EXPECT_NEAR(global_norm(layout, gradients, serial()) / std::sqrt(sum), 1, 1e-13);
  const ParameterLayout two = make_layout({{"a", {1}}, {"b", {1}}});
  FlatBuffer pair(two);
  pair.of(two.slots[0])[0] = 3;
  pair.of(two.slots[1])[0] = -4;
  EXPECT_EQ(global_norm(two, pair, serial()), 5);
  EXPECT_EQ(global_norm(make_layout({}), FlatBuffer(size_t{0}), serial()), 0);
}

// Blocks of zeros are not added up.
TEST(GradientNorm, FindsASingleGradientAmongZeros) {
  const ParameterLayout layout = make_layout({{"a", {48}}, {"b", {16}}, {"c", {1}}});
  for (const float zero : {0.0F, -0.0F}) {
    FlatBuffer gradients(layout);
    for (float& value : gradients.all()) value = zero;
    EXPECT_EQ(global_norm(layout, gradients, serial()), 0);
    for (float& value : gradients.all()) {
      value = -2;
      EXPECT_EQ(global_norm(layout, gradients, serial()), 2) << &value - gradients.data();
      value = zero;
    }
  }
}

TEST(GradientNorm, HasTheSameBitsOnAnyNumberOfThreads) {
  const ParameterLayout layout = test::make_case_layout();
  FlatBuffer gradients(layout);
  test::fill(layout, gradients, 6, 1);
  const double expected = global_norm(layout, gradients, serial());
  for (const size_t threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    for (int turn = 0; turn < 20; ++turn) EXPECT_EQ(global_norm(layout, gradients, pool.parallel()), expected);
  }
}

TEST(GradientNorm, IsFiniteExactlyWhenAllGradientsAre) {
  const ParameterLayout layout = test::make_case_layout();
  FlatBuffer gradients(layout);
  for (float& value : gradients.all()) value = std::numeric_limits<float>::max();
  EXPECT_TRUE(std::isfinite(global_norm(layout, gradients, serial())));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const ParameterSlot& slot : layout.slots) {
      const float kept = std::exchange(gradients.of(slot).back(), bad);
      EXPECT_FALSE(std::isfinite(global_norm(layout, gradients, serial()))) << slot.name;
      gradients.of(slot).back() = kept;
    }
  }
}

TEST(Clipping, DividesByTheLossScaleAndByWhatTheNormIsTooLarge) {
  EXPECT_EQ(clip_divisor(5, 1), 5);
  EXPECT_EQ(clip_divisor(0.5, 1), 1);
  EXPECT_EQ(clip_divisor(5, 2), 2.5);
  EXPECT_EQ(clip_divisor(5, 0), 1);
  EXPECT_EQ(clip_divisor(5, -1), 1);
  EXPECT_EQ(clip_divisor(5 * 1024, 1, 1024), 5 * 1024);  // the norm itself is 5
  EXPECT_EQ(clip_divisor(512, 1, 1024), 1024);
  EXPECT_EQ(clip_divisor(5 * 1024, -1, 1024), 1024);
}

}  // namespace
}  // namespace deberta::train::gradient_norm_test
