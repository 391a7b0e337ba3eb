// Charts: where the points lie, gaps, long runs, ticks.
#include "train/report/line_chart.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/report/report_case.h"

namespace deberta::train::line_chart_test {
namespace {

using test::times_in;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(LineCharts, DrawEachLineWithItsLegendAndLastValue) {
  const std::string svg =
      draw({.title = "Loss", .unit = "nats", .lines = {{"of G", {{1, 4}, {2, 3}}}, {"of D", {{1, 1}, {2, 2}}}}});
  EXPECT_EQ(times_in("class=\"line c0\" d=\"M", svg), 2u) << "the line and its key";
  EXPECT_EQ(times_in("class=\"line c1\" d=\"M", svg), 2u);
  EXPECT_NE(svg.find("of G: <b>3</b>"), std::string::npos);
  EXPECT_NE(svg.find("<figcaption>Loss <span class=\"unit\">nats</span>"), std::string::npos);
  EXPECT_EQ(times_in("<title>of G: 4 at step 1</title>", svg), 1u);
}

TEST(LineCharts, PutStepsAndValuesWhereTheAxesSay) {
  // Steps 0 to 10 from x 58 to 578; values 0 to 10.6, since the margin is 6 % of the spread, from y 222 to 10.
  const std::string svg = draw({.title = "", .unit = "", .lines = {{"a", {{0, 0}, {5, 5.3}, {10, 10}}}}});
  EXPECT_NE(svg.find("d=\"M58.0 222.0L318.0 116.0L578.0 22.0\""), std::string::npos) << svg;
}

TEST(LineCharts, HaveGapsForWhatIsNotFinite) {
  const std::string svg =
      draw({.title = "", .unit = "", .lines = {{"a", {{1, 1}, {2, 2}, {3, kNan}, {4, 2}, {5, INFINITY}}}}});
  const size_t begin = svg.find("class=\"line c0\" d=\"") + 19;
  const std::string path = svg.substr(begin, svg.find('"', begin) - begin);
  EXPECT_EQ(times_in("M", path), 2u) << path;
  EXPECT_TRUE(path.ends_with("h0")) << "the point alone is a dot: " << path;
  EXPECT_EQ(times_in("v-7", svg), 2u);
  EXPECT_NE(svg.find("2 of 5 not finite"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(LineCharts, OfNothingButNanStillSaySo) {
  const std::string svg = draw({.title = "", .unit = "", .lines = {{"a", {{1, kNan}}}}});
  EXPECT_NE(svg.find("1 of 1 not finite"), std::string::npos);
  EXPECT_EQ(draw({.title = "t", .unit = "", .lines = {{"a", {}}}}), "");
}

TEST(LineCharts, AreLogarithmicOnlyWhereThatIsAskedForAndNeeded) {
  const auto svg = [](bool may, double low) {
    return draw({.title = "", .unit = "", .may_be_logarithmic = may, .lines = {{"a", {{1, 100}, {2, low}}}}});
  };
  EXPECT_NE(svg(true, 1).find("logarithmic"), std::string::npos);
  EXPECT_EQ(svg(true, 2).find("logarithmic"), std::string::npos);
  EXPECT_EQ(svg(true, 0).find("logarithmic"), std::string::npos);
  EXPECT_EQ(svg(false, 1).find("logarithmic"), std::string::npos);
}

TEST(LineCharts, MarkWhereTheRunWentOn) {
  const auto drawn = [](std::vector<int64_t> steps) {
    return draw({.title = "", .unit = "", .lines = {{"a", {{0, 1}, {10, 2}}}}, .resumes = std::move(steps)});
  };
  EXPECT_EQ(times_in("class=\"resume\" d=\"M318.0 ", drawn({5})), 1u);
  EXPECT_EQ(times_in("class=\"resume\"", drawn({5, 99})), 2u) << "with its key, and none beyond the chart";
  EXPECT_EQ(drawn({}).find("went on"), std::string::npos);
}

TEST(LineCharts, EscapeLabelsAndTitles) {
  const std::string svg = draw({.title = "<t>", .unit = "\"u\"", .lines = {{"a&b", {{1, 1}}}}});
  EXPECT_NE(svg.find("&lt;t&gt;"), std::string::npos);
  EXPECT_NE(svg.find("a&amp;b: "), std::string::npos);
  EXPECT_EQ(svg.find("<t>"), std::string::npos);
}

TEST(ThinnedPoints, KeepFirstLastLowestHighestAndWhatIsNotFinite) {
  std::vector<Point> points;
  for (int64_t step = 0; step < 100000; ++step) points.push_back({step, std::sin(static_cast<double>(step) / 5000)});
  points[41234].value = 7;
  points[61234].value = -9;
  points[71234].value = kNan;
  const std::vector<Point> kept = thin_out(points, 1000);
  EXPECT_LE(kept.size(), 1000u);
  EXPECT_GE(kept.size(), 600u);
  EXPECT_EQ(kept.front(), points.front());
  EXPECT_EQ(kept.back(), points.back());
  EXPECT_NE(std::find(kept.begin(), kept.end(), points[41234]), kept.end());
  EXPECT_NE(std::find(kept.begin(), kept.end(), points[61234]), kept.end());
  size_t bad = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    bad += std::isnan(kept[i].value);
    EXPECT_TRUE(i == 0 || kept[i - 1].step < kept[i].step);
  }
  EXPECT_EQ(bad, 1u);
  EXPECT_EQ(thin_out(kept, 1000).size(), kept.size());
}

TEST(Ticks, AreRoundNumbersWithinTheRange) {
  EXPECT_EQ(linear_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_ticks(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(linear_ticks(0, 30000, 5).size(), 7u);
  EXPECT_EQ(linear_ticks(1, std::nextafter(1.0, 2.0), 5).size(), 1u) << "no step is that small";
  EXPECT_EQ(linear_ticks(3, 3, 5).size(), 1u);
  EXPECT_LE(linear_ticks(1, 1 + 1e-11, 5).size(), 10u);
  EXPECT_EQ(logarithmic_ticks(0.9, 120), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  EXPECT_EQ(logarithmic_ticks(1, 1e6).size(), 7u);
}

}  // namespace
}  // namespace deberta::train::line_chart_test
