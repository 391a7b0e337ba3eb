// Ticks are round and told apart; scales hold what they are asked for.
#include "chart/scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <set>

namespace deberta::chart::scale_test {
namespace {

TEST(Ticks, AreRoundNumbersWithinTheRange) {
  EXPECT_EQ(linear_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_ticks(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(linear_ticks(0, 30000, 5).size(), 7u);
  EXPECT_EQ(linear_ticks(1, std::nextafter(1.0, 2.0), 5).size(), 1u) << "no step is that small";
  EXPECT_EQ(linear_ticks(3, 3, 5).size(), 1u);
  EXPECT_LE(linear_ticks(1, 1 + 1e-11, 5).size(), 10u);
  EXPECT_LE(linear_ticks(-1e300, 1e300, 5).size(), 12u);
  EXPECT_EQ(logarithmic_ticks(0.9, 120), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  EXPECT_EQ(logarithmic_ticks(1, 1e6).size(), 7u);
  EXPECT_LE(logarithmic_ticks(1e-300, 1e300).size(), 12u) << "of hundreds of powers a few";
}

TEST(Ticks, AreMultiplesOfOneTwoOrFiveTimesAPower) {
  for (const auto& [low, high] : {std::pair(0.433, 0.471), {-7.3, 12.1}, {1e-7, 3e-7}, {12345.0, 98765.0}}) {
    const std::vector<double> ticks = linear_ticks(low, high, 5);
    ASSERT_GE(ticks.size(), 3u);
    const double step = ticks[1] - ticks[0], digit = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
    EXPECT_TRUE(std::abs(digit - 1) < 1e-6 || std::abs(digit - 2) < 1e-6 || std::abs(digit - 5) < 1e-6) << step;
    for (const double tick : ticks) {
      EXPECT_NEAR(tick / step, std::round(tick / step), 1e-6);
      EXPECT_TRUE(tick >= low - step * 1e-6 && tick <= high + step * 1e-6);
    }
  }
}

TEST(TickLabels, TellNeighboursApart) {
  EXPECT_EQ(tick_labels({0, 0.1, 0.2, 0.1 + 0.2}), (std::vector<std::string>{"0", "0.1", "0.2", "0.3"}));
  EXPECT_EQ(tick_labels({10000, 20000}), (std::vector<std::string>{"10k", "20k"}));
  const std::vector<std::string> labels = tick_labels({100000.1, 100000.2, 100000.3});
  EXPECT_EQ(std::set(labels.begin(), labels.end()).size(), 3u);
}

Ends ends_of(std::initializer_list<double> values) {
  Ends ends;
  for (const double value : values) ends.add(value);
  return ends;
}

TEST(Scales, StandOnZeroOrLeaveAMargin) {
  EXPECT_EQ(make_scale({}, ends_of({1, 10}), Margin::kSome).range.low, 0);
  EXPECT_LT(make_scale({}, ends_of({9, 10}), Margin::kSome).range.low, 9);
  EXPECT_GT(make_scale({}, ends_of({9, 10}), Margin::kSome).range.low, 8.5);
  const Scale flat = make_scale({}, ends_of({5}), Margin::kNone);
  EXPECT_TRUE(flat.range.low < 5 && flat.range.high > 5);
  const Scale none = make_scale({}, ends_of({kMissing, INFINITY}), Margin::kSome);
  EXPECT_TRUE(none.range.low <= 0 && none.range.high >= 1);
}

TEST(Scales, ReachAtLeastAsFarAsTheAxisSays) {
  const Scale scale = make_scale({.low = 0, .high = 50}, ends_of({20, 30}), Margin::kNone);
  EXPECT_EQ(scale.range.low, 0);
  EXPECT_EQ(scale.range.high, 50);
  EXPECT_EQ(make_scale({.low = 25}, ends_of({20, 30}), Margin::kNone).range.low, 20) << "never less than the values";
  EXPECT_EQ(make_scale({.low = kMissing}, ends_of({20, 30}), Margin::kNone).range.low, 20);
  EXPECT_EQ(make_scale({.low = 0}, ends_of({9, 10}), Margin::kSome).range.low, 0)
      << "an end that is given has no margin";
}

TEST(Scales, PutEqualRatiosAtEqualDistancesWhereTheyAreLogarithmic) {
  Scale scale = make_scale({.spacing = Spacing::kLogarithmic}, ends_of({-3, 1, 1000}), Margin::kSome);
  ASSERT_TRUE(scale.is_logarithmic);
  scale.begin = 0, scale.end = 300;
  EXPECT_NEAR(scale.place(10) - scale.place(1), scale.place(1000) - scale.place(100), 1e-9);
  EXPECT_GE(make_scale({.spacing = Spacing::kLogarithmic}, ends_of({2.5, 3.9}), Margin::kSome).ticks(5).size(), 2u)
      << "between 2 and 5";
  EXPECT_FALSE(scale.holds(-3));
  EXPECT_FALSE(scale.holds(0));
  EXPECT_TRUE(scale.holds(1));
}

}  // namespace
}  // namespace deberta::chart::scale_test
