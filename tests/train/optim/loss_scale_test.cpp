// The rule of the original: begun at 16384, doubled after 250 clean steps, halved at an overflow, never below 1.
#include "train/optim/loss_scale.h"

#include <gtest/gtest.h>

namespace deberta::train::loss_scale_test {
namespace {

TEST(LossScale, IsOneWithoutOne) {
  LossScale scale;
  EXPECT_FALSE(scale.is_used());
  EXPECT_EQ(scale.value(), 1);
  for (int i = 0; i < 500; ++i) scale.count_clean();
  EXPECT_EQ(scale.value(), 1);
  EXPECT_FALSE(scale.lower());
}

TEST(LossScale, IsDoubledAfter250CleanStepsInARow) {
  LossScale scale(LossScale::kFirst);
  EXPECT_EQ(scale.value(), 16384);
  for (int i = 0; i < 249; ++i) scale.count_clean();
  EXPECT_EQ(scale.value(), 16384);
  scale.count_clean();
  EXPECT_EQ(scale.value(), 32768);
  for (int i = 0; i < 249; ++i) scale.count_clean();
  EXPECT_TRUE(scale.lower());
  EXPECT_EQ(scale.value(), 16384);
  for (int i = 0; i < 249; ++i) scale.count_clean();
  EXPECT_EQ(scale.value(), 16384) << "an overflow begins the count anew";
}

TEST(LossScale, IsHalvedDownToOne) {
  LossScale scale(6);
  EXPECT_TRUE(scale.lower());
  EXPECT_TRUE(scale.lower());
  EXPECT_EQ(scale.value(), 1.5);
  EXPECT_TRUE(scale.lower());
  EXPECT_EQ(scale.value(), 1);
  EXPECT_FALSE(scale.lower());
}

}  // namespace
}  // namespace deberta::train::loss_scale_test
