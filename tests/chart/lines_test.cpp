// Charts of lines: where the points lie, gaps, long lines, legends.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "chart/chart.h"
#include "chart/svg_case.h"

namespace deberta::chart::lines_test {
namespace {

using test::elements_of;
using test::expect_whole;
using test::times_in;
using test::with_class;

std::string svg_of(const LineChart& chart) {
  const std::string svg = svg_file(draw(chart));
  expect_whole(svg);
  return svg;
}

std::string path_of(const std::string& svg, size_t number = 0) {
  std::vector<std::string> paths;
  for (const test::Element& element : with_class(svg, "line")) {
    if (element.of("d") != "M1 5H19") paths.push_back(element.of("d"));
  }
  return number < paths.size() ? paths[number] : "";
}

TEST(LineCharts, DrawEachLineWithItsLegend) {
  const std::string svg = svg_of({.title = "Loss",
                                  .x = {.title = "step"},
                                  .y = {.title = "nats"},
                                  .lines = {{.name = "of G", .points = {{1, 4}, {2, 3}}, .note = "3"},
                                            {.name = "of D", .points = {{1, 1}, {2, 2}}}}});
  for (const char* style : {"c0", "c1"}) {
    const auto drawn = with_class(svg, style);
    EXPECT_EQ(std::ranges::count_if(drawn, [](const auto& one) { return one.has_class("line"); }), 2)
        << "the line and its key";
  }
  EXPECT_EQ(times_in("of G: <tspan class=\"strong\">3</tspan>", svg), 1u);
  EXPECT_EQ(times_in("<title>of G: 4 at step 1</title>", svg), 1u);
  EXPECT_EQ(with_class(svg, "title").at(0).text, "Loss");
  EXPECT_EQ(with_class(svg, "note").at(0).text, "nats");
}

TEST(LineCharts, PutPointsWhereTheAxesSay) {
  const std::string svg = svg_of({.x = {.low = 0}, .lines = {{.points = {{0, 0}, {5, 5.3}, {10, 10}}}}});
  // Values 0 to 10.6, since the margin is 6 % of the spread: the middle one lies in the middle of both axes.
  const std::string path = path_of(svg);
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(path.c_str(), "M%lf %lfL%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]), 6) << path;
  EXPECT_NEAR(x[1], (x[0] + x[2]) / 2, 0.11);
  const auto grid = with_class(svg, "grid");
  ASSERT_GE(grid.size(), 6u) << "0, 2, ... 10";
  EXPECT_NEAR(test::box_of(grid.front()).top, y[0], 0.11) << "the line of 0";
  EXPECT_NEAR(test::box_of(grid.back()).top, y[2], 0.11) << "the line of 10";
  EXPECT_NEAR((y[0] - y[1]) / (y[0] - y[2]), 0.53, 0.002);
}

TEST(LineCharts, HaveGapsForWhatIsNotFinite) {
  const std::string svg =
      svg_of({.lines = {{.name = "a", .points = {{1, 1}, {2, 2}, {3, kMissing}, {4, 2}, {5, INFINITY}, {6, 1e308}}}}});
  const std::string path = path_of(svg);
  EXPECT_EQ(times_in("M", path), 2u) << path;
  EXPECT_TRUE(path.ends_with("h0")) << "the point alone is a dot: " << path;
  EXPECT_EQ(times_in("v-7", svg), 3u);
  EXPECT_NE(svg.find("3 of 6 not finite"), std::string::npos);
}

TEST(LineCharts, OfNothingStillSaySo) {
  EXPECT_NE(svg_of({.lines = {{.name = "a", .points = {{1, kMissing}}}}}).find("1 of 1 not finite"), std::string::npos);
  EXPECT_NE(svg_of({.lines = {{.points = {{kMissing, 1}}}}}).find("1 of 1 not finite"), std::string::npos);
  EXPECT_EQ(path_of(svg_of({.title = "t", .lines = {}})), "");
  EXPECT_EQ(path_of(svg_of({.title = "t", .lines = {{.name = "a", .points = {}}}})), "");
}

TEST(LineCharts, OfOnePointOrOneValueHaveRoundTicksAroundIt) {
  EXPECT_TRUE(path_of(svg_of({.lines = {{.points = {{3, 7}}}}})).ends_with("h0"));
  for (const double value : {0.0, 5.0, -1e-12, 1e290, -1e290, 1e-320})
    EXPECT_NE(path_of(svg_of({.lines = {{.points = {{0, value}, {1, value}}}}})), "") << value;
  EXPECT_NE(path_of(svg_of({.lines = {{.points = {{-1e300, -1e300}, {1e300, 1e300}}}}})), "");
}

TEST(LineCharts, AreLogarithmicOnlyWhereThatIsAskedForAndPossible) {
  const auto is_logarithmic = [](Spacing spacing, double low) {
    const std::string svg = svg_of({.y = {.spacing = spacing}, .lines = {{.points = {{1, 100}, {2, low}}}}});
    return svg.find("logarithmic<") != std::string::npos;
  };
  EXPECT_TRUE(is_logarithmic(Spacing::kLogarithmicIfWide, 1));
  EXPECT_FALSE(is_logarithmic(Spacing::kLogarithmicIfWide, 2));
  EXPECT_FALSE(is_logarithmic(Spacing::kLogarithmicIfWide, 0));
  EXPECT_FALSE(is_logarithmic(Spacing::kLinear, 1));
  EXPECT_TRUE(is_logarithmic(Spacing::kLogarithmic, 50));
  const std::string svg =
      svg_of({.y = {.spacing = Spacing::kLogarithmic}, .lines = {{.points = {{1, 10}, {2, -1}, {3, 100}}}}});
  EXPECT_NE(svg.find("1 of 3 not finite or not positive"), std::string::npos);
  EXPECT_EQ(svg_of({.y = {.spacing = Spacing::kLogarithmic}, .lines = {{.points = {{1, -1}}}}}).find("logarithmic<"),
            std::string::npos)
      << "nothing is positive";
}

TEST(LineCharts, MarkDivisions) {
  const auto drawn = [](std::vector<double> at) {
    return svg_of({.lines = {{.points = {{0, 1}, {10, 2}}}}, .divisions = {.name = "went on", .at = std::move(at)}});
  };
  EXPECT_EQ(with_class(drawn({5}), "division").size(), 2u) << "with its key";
  EXPECT_EQ(with_class(drawn({5, 99, kMissing}), "division").size(), 2u) << "none beyond the chart";
  EXPECT_EQ(drawn({}).find("went on"), std::string::npos);
}

TEST(LineCharts, EscapeTexts) {
  const std::string svg =
      svg_of({.title = "<t>", .y = {.title = "\"u\""}, .lines = {{.name = "a&b\x01\xff", .points = {{1, 1}}}}});
  EXPECT_EQ(with_class(svg, "title").at(0).text, "<t>");
  EXPECT_NE(svg.find("a&amp;b\xEF\xBF\xBD\xEF\xBF\xBD"), std::string::npos);
  EXPECT_EQ(svg.find("<t>"), std::string::npos);
  EXPECT_EQ(elements_of(svg).front().of("aria-label"), "<t>");
}

TEST(LineCharts, OfPointsAloneHaveNoLine) {
  const std::string svg =
      svg_of({.lines = {{.name = "models", .points = {{140, 88.8}, {304, 91.1}}, .is_joined = false}}});
  EXPECT_EQ(path_of(svg), "");
  EXPECT_EQ(with_class(svg, "dot").size(), 3u) << "two points and the key";
}

TEST(LineCharts, KeepManyNamesAndLongOnesApart) {
  LineChart chart{.title = std::string(400, 'W') + " and more words than a line holds, again and again, on and on",
                  .lines = {}};
  for (int i = 0; i < 30; ++i)
    chart.lines.push_back(
        {.name = "series " + std::string(static_cast<size_t>(i * 7), 'x'), .points = {{0, 1.0 * i}, {1, 2}}});
  const std::string svg = svg_of(chart);
  EXPECT_EQ(test::overlaps(svg, "label"), 0u);
  EXPECT_LE(with_class(svg, "title").size(), 3u);
  EXPECT_FALSE(with_class(svg, "dashed").empty()) << "colours come again, with another line";
}

TEST(LineCharts, GrowWithTheirDataAndNoFaster) {
  const auto size_of = [](size_t count) {
    LineChart chart{.lines = {{.points = {}}}};
    for (size_t i = 0; i < count; ++i)
      chart.lines[0].points.push_back({static_cast<double>(i), std::sin(static_cast<double>(i) / 50)});
    return svg_of(chart).size();
  };
  EXPECT_LT(size_of(1'000'000), size_of(1000) + 2000) << "a thousand points are kept";
}

TEST(ThinnedPoints, KeepFirstLastLowestHighestAndWhatIsNotFinite) {
  std::vector<Point> points;
  for (int step = 0; step < 100000; ++step) points.push_back({1.0 * step, std::sin(step / 5000.0)});
  points[41234].y = 7;
  points[61234].y = -9;
  points[71234].y = kMissing;
  const std::vector<Point> kept = thin_out(points, 1000);
  EXPECT_LE(kept.size(), 1000u);
  EXPECT_GE(kept.size(), 600u);
  EXPECT_EQ(kept.front(), points.front());
  EXPECT_EQ(kept.back(), points.back());
  EXPECT_NE(std::find(kept.begin(), kept.end(), points[41234]), kept.end());
  EXPECT_NE(std::find(kept.begin(), kept.end(), points[61234]), kept.end());
  size_t bad = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    bad += std::isnan(kept[i].y);
    EXPECT_TRUE(i == 0 || kept[i - 1].x < kept[i].x);
  }
  EXPECT_EQ(bad, 1u);
  EXPECT_EQ(thin_out(kept, 1000).size(), kept.size());
}

}  // namespace
}  // namespace deberta::chart::lines_test
