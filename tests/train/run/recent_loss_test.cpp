// The loss of the last steps: by label, over lines of the log.
#include "train/run/recent_loss.h"

#include <gtest/gtest.h>

namespace deberta::train {
namespace {

TEST(RecentLoss, IsTheMeanOfTheLastTenStepsWhereverTheLogHasItsLines) {
  RecentLoss recent;
  Sums sums;
  for (int step = 0; step < 12; ++step) {
    recent.before(sums);
    sums["loss"] += 2.0 * step;
    sums["divisor"] += 2;
    recent.after(sums);
    EXPECT_EQ(recent.mean().has_value(), step >= 9) << step;
    if (step % 5 == 4) sums.clear();
  }
  EXPECT_DOUBLE_EQ(recent.mean().value(), 6.5);
}

TEST(RecentLoss, AStepWithoutALabelCountsForNothing) {
  RecentLoss recent;
  Sums sums;
  for (int step = 0; step < 20; ++step) {
    recent.before(sums);
    if (step % 2 == 0) {
      sums["loss"] += 3;
      sums["divisor"] += 1;
    }
    recent.after(sums);
    EXPECT_EQ(recent.mean().has_value(), step >= 18) << step;
  }
  EXPECT_DOUBLE_EQ(recent.mean().value(), 3);
}

}  // namespace
}  // namespace deberta::train
