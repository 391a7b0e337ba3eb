// Progress as text: what a terminal of any width shows.
#include "base/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace deberta::progress_test {
namespace {

using namespace std::chrono_literals;

TEST(Progress, ABarSaysAllThatItsTerminalHolds) {
  const auto start = ProgressMeter::Clock::now(), now = start + 10s;
  ProgressMeter meter({}, start);
  meter.update(1000, 20000, 0.25);
  EXPECT_EQ(meter.bar(now, 200), "[#####...............] 25 %  1000 rows  100.0 rows/s  2000 tokens/s  00:30 left");
  EXPECT_EQ(meter.bar(now, 79), "[#####...............] 25 %  1000 rows  100.0 rows/s  2000 tokens/s  00:30 left");
  EXPECT_EQ(meter.bar(now, 78), "[#####...............] 25 %  1000 rows  100.0 rows/s  00:30 left");
  EXPECT_EQ(meter.bar(now, 55), "[#####...............] 25 %  1000 rows  00:30 left");
  EXPECT_EQ(meter.bar(now, 40), "[##........] 25 %  1000 rows  00:30 left");
  EXPECT_EQ(meter.bar(now, 39), "[##........] 25 %  00:30 left");
  EXPECT_EQ(meter.bar(now, 20), "25 %  1000 rows");
  EXPECT_EQ(meter.bar(now, 10), "25 %");
  EXPECT_EQ(meter.bar(now, 2), "25");
}

TEST(Progress, OfAJobThatGoesOnCountsWhatIsNew) {
  const auto start = ProgressMeter::Clock::now();
  ProgressMeter meter({.items = "steps"}, start);
  meter.begin(500, 10000, 0.5);
  EXPECT_EQ(meter.bar(start + 1s, 99), "[##########..........] 50 %  500 steps  0.0 steps/s  0 tokens/s");
  meter.update(600, 12000, 0.6);
  EXPECT_EQ(meter.bar(start + 10s, 99),
            "[############........] 60 %  600 steps  10.0 steps/s  200 tokens/s  00:40 left");
  EXPECT_EQ(meter.summary(start + 10s, 99), "100 steps in 00:10, 10.0 steps/s, 200 tokens/s");
}

TEST(Progress, IsNeverWiderThanItsTerminal) {
  const auto start = ProgressMeter::Clock::now();
  for (const double fraction : {0.0, 0.5, 1.0}) {
    ProgressMeter meter({}, start);
    meter.update(123456789, 12345678900, fraction);
    for (size_t columns = 0; columns < 120; ++columns) {
      EXPECT_LE(meter.bar(start + 100h, columns).size(), columns);
      EXPECT_LE(meter.summary(start + 100h, columns).size(), columns);
    }
  }
}

TEST(Progress, WithoutAnEndCountsAlone) {
  const auto start = ProgressMeter::Clock::now();
  ProgressMeter meter({.items = "MB", .tokens = ""}, start);
  meter.update(7, 0, std::nullopt);
  EXPECT_EQ(meter.bar(start + 2s, 39), "7 MB  3.5 MB/s");
}

TEST(Progress, EndsWithWhatWasDone) {
  const auto start = ProgressMeter::Clock::now();
  ProgressMeter meter({}, start);
  meter.update(3000, 60000, 1.0);
  EXPECT_EQ(meter.summary(start + 25s, 79), "3000 rows in 00:25, 120.0 rows/s, 2400 tokens/s");
  EXPECT_EQ(meter.summary(start + 25s, 39), "3000 rows in 00:25, 120.0 rows/s");
  EXPECT_EQ(meter.summary(start + 2h, 20), "3000 rows in 2:00:00");
}

}  // namespace
}  // namespace deberta::progress_test
