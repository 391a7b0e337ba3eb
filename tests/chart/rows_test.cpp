// Bars, dots and boxes: a row for each label, a line in it for each series.
#include <gtest/gtest.h>

#include <cmath>

#include "chart/chart.h"
#include "chart/svg_case.h"

namespace deberta::chart::rows_test {
namespace {

using test::box_of;
using test::expect_whole;
using test::with_class;

template <class Chart>
std::string svg_of(const Chart& chart) {
  const std::string svg = svg_file(draw(chart));
  expect_whole(svg);
  return svg;
}

// Of a class, those with a text for the pointer: not the keys of the legend.
std::vector<test::Element> drawn(const std::string& svg, const std::string& name) {
  std::vector<test::Element> found;
  const std::vector<test::Element> all = test::elements_of(svg);
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].has_class(name) && all[i + 1].name == "title") found.push_back(all[i]);
  }
  return found;
}

double zero_of(const std::string& svg) {
  for (const test::Element& axis : with_class(svg, "axis")) {
    const test::Box box = box_of(axis);
    if (box.left == box.right && box.bottom - box.top > 10) return box.left;
  }
  return NAN;
}

TEST(BarCharts, ReachFromZeroToTheValue) {
  const std::string svg = svg_of(BarChart{.title = "t", .labels = {"a", "b", "c"}, .series = {{.values = {1, 2, -1}}}});
  const auto bars = drawn(svg, "bar");
  ASSERT_EQ(bars.size(), 3u);
  const double zero = zero_of(svg);
  EXPECT_NEAR(bars[1].number("width"), 2 * bars[0].number("width"), 0.25);
  EXPECT_NEAR(box_of(bars[0]).left, zero, 0.11);
  EXPECT_NEAR(box_of(bars[2]).right, zero, 0.11) << "a negative value goes the other way";
  EXPECT_LT(box_of(bars[0]).bottom, box_of(bars[1]).top);
  EXPECT_NE(svg.find("<title>b: 2</title>"), std::string::npos);
}

TEST(BarCharts, ShowTheirValuesBesideThem) {
  const std::string svg = svg_of(BarChart{.labels = {"a", "b"}, .series = {{.values = {1.34, 12.25}}}});
  for (const char* text : {">1.34<", ">12.25<"}) EXPECT_EQ(test::times_in(text, svg), 1u) << text;
  EXPECT_EQ(test::overlaps(svg, "label"), 0u);
}

TEST(BarCharts, MarkTargetsAndWhatFallsShort) {
  const std::string svg = svg_of(BarChart{
      .labels = {"a", "b", "c"}, .series = {{.values = {2, 1, 1.5}, .targets = {1.5, 1.5, 1.5}}}, .target = "floor"});
  EXPECT_EQ(drawn(svg, "bar").size(), 2u) << "a value that equals its target reaches it";
  EXPECT_EQ(drawn(svg, "short").size(), 1u);
  const auto targets = with_class(svg, "target");
  ASSERT_EQ(targets.size(), 4u) << "three and the key";
  EXPECT_NEAR(box_of(targets[1]).left, box_of(drawn(svg, "bar")[1]).right, 0.11);
  EXPECT_NE(svg.find(">below it<"), std::string::npos);
  EXPECT_EQ(svg_of(BarChart{.labels = {"a"}, .series = {{.values = {2}, .targets = {1}}}, .target = "floor"})
                .find("below it"),
            std::string::npos);
}

TEST(BarCharts, GroupSeriesByLabel) {
  const std::string svg = svg_of(
      BarChart{.labels = {"a", "b"}, .series = {{.name = "one", .values = {1, 2}}, {.name = "two", .values = {3, 4}}}});
  const auto bars = drawn(svg, "bar");
  ASSERT_EQ(bars.size(), 4u);
  for (size_t i = 1; i < 4; ++i) EXPECT_LE(box_of(bars[i - 1]).bottom, box_of(bars[i]).top);
  EXPECT_TRUE(bars[0].has_class("c0") && bars[1].has_class("c1"));
  EXPECT_GT(box_of(bars[2]).top - box_of(bars[1]).bottom, box_of(bars[1]).top - box_of(bars[0]).bottom);
}

TEST(RowCharts, OfNothingOrOfNanAreWhole) {
  svg_of(BarChart{.title = "t", .labels = {}, .series = {}});
  svg_of(DotChart{.title = "t", .labels = {}, .series = {}});
  svg_of(BoxPlot{.title = "t", .labels = {}, .series = {}});
  EXPECT_TRUE(drawn(svg_of(BarChart{.labels = {"a", "b"}, .series = {{.values = {kMissing}}}}), "bar").empty());
  EXPECT_TRUE(
      drawn(svg_of(DotChart{.labels = {"a", "b"}, .series = {{.values = {{.value = INFINITY}}}}}), "dot").empty());
  EXPECT_TRUE(
      drawn(svg_of(BoxPlot{.labels = {"a", "b"}, .series = {{.values = {{0, 1, kMissing, 3, 4}}}}}), "box").empty());
  for (const double value : {0.0, 1e-300, -1e290, 1e300}) {
    EXPECT_EQ(drawn(svg_of(BarChart{.labels = {"a"}, .series = {{.values = {value}}}}), "bar").size(), 1u) << value;
    EXPECT_EQ(drawn(svg_of(DotChart{.labels = {"a"}, .series = {{.values = {{.value = value}}}}}), "dot").size(), 1u)
        << value;
  }
}

TEST(RowCharts, CutLongLabelsAndKeepThemForThePointer) {
  const std::string name(300, 'm');
  const std::string svg = svg_of(BarChart{.labels = {name, "b"}, .series = {{.values = {1, 2}}}});
  EXPECT_NE(svg.find("<title>" + name + "</title>"), std::string::npos);
  EXPECT_EQ(test::overlaps(svg, "label"), 0u);
  EXPECT_GT(drawn(svg, "bar")[1].number("width"), 200) << "labels leave the greater part";
}

TEST(RowCharts, OfTheLeastWidthAreWhole) {
  const std::string name(60, 'W');
  svg_of(BarChart{.labels = {name}, .series = {{.values = {-1.2345e-30}}, {.values = {1.2345e30}}}, .width = 200});
  svg_of(DotChart{.labels = {name},
                  .series = {{.values = {{.value = 1e300, .reach = 1e300}}}},
                  .notes = {name},
                  .notes_title = name,
                  .width = 200});
  svg_of(Diagram{.title = name, .groups = {name}, .blocks = {{.text = name, .width = 1, .height = 1, .group = 0}}});
}

TEST(DotCharts, ReachToEitherSide) {
  const std::string svg =
      svg_of(DotChart{.x = {.title = "mean"},
                      .labels = {"a", "b"},
                      .series = {{.values = {{.value = 5, .reach = 2}, {.value = 9, .reach = kMissing}}}},
                      .notes = {"2.3e+14", ""},
                      .notes_title = "FLOPs"});
  const auto dots = drawn(svg, "dot");
  const auto lines = with_class(svg, "line");
  ASSERT_EQ(dots.size(), 2u);
  ASSERT_EQ(lines.size(), 1u);
  const double middle = dots[0].number("cx"), unit = (dots[1].number("cx") - middle) / 4;
  EXPECT_NEAR(middle - box_of(lines[0]).left, 2 * unit, 0.15);
  EXPECT_NEAR(box_of(lines[0]).right - middle, 2 * unit, 0.15);
  EXPECT_NE(svg.find("<title>a: 5 \u00b1 2</title>"), std::string::npos);
  EXPECT_NE(svg.find(">2.3e+14<"), std::string::npos);
  EXPECT_NE(svg.find(">FLOPs<"), std::string::npos);
  EXPECT_EQ(test::overlaps(svg, "label"), 0u);
}

TEST(DotCharts, SayWhatTheyAreTold) {
  const std::string svg =
      svg_of(DotChart{.labels = {"a<b"}, .series = {{.values = {{.value = 5, .about = "5.0 \u00b1 1"}}}}});
  EXPECT_NE(svg.find("<title>a&lt;b: 5.0 \u00b1 1</title>"), std::string::npos);
}

TEST(DotCharts, OfALogarithmicAxisBeginAtItsEndWhereTheLineWouldBeNegative) {
  const std::string svg =
      svg_of(DotChart{.x = {.spacing = Spacing::kLogarithmic},
                      .labels = {"a", "b"},
                      .series = {{.values = {{.value = 1, .reach = 2}, {.value = 100, .reach = 1}}}}});
  EXPECT_EQ(with_class(svg, "line").size(), 2u);
}

TEST(BoxPlots, HaveTheirQuantilesInOrder) {
  const std::string svg = svg_of(BoxPlot{.x = {.title = "score"},
                                         .labels = {"head 0", "head 1"},
                                         .series = {{.name = "c2c", .values = {{-2, -1, 0, 1, 2}, {-4, 0, 1, 2, 9}}},
                                                    {.name = "c2p", .values = {{0, 1, 2, 3, 4}, {5, 5, 5, 5, 5}}}}});
  const auto boxes = drawn(svg, "box");
  ASSERT_EQ(boxes.size(), 4u);
  const double unit = boxes[0].number("width") / 2;
  const auto whiskers = with_class(svg, "line"), medians = with_class(svg, "median");
  ASSERT_EQ(whiskers.size(), 4u);
  ASSERT_EQ(medians.size(), 4u);
  EXPECT_NEAR(box_of(whiskers[0]).right - box_of(whiskers[0]).left, 4 * unit, 0.3);
  EXPECT_NEAR(box_of(medians[0]).left, (box_of(boxes[0]).left + box_of(boxes[0]).right) / 2, 0.15);
  EXPECT_NEAR(boxes[3].number("width"), 0, 1e-9) << "all the same";
  EXPECT_NE(svg.find("head 0, c2c: median 0, half of all from -1 to 1, ends -2 and 2"), std::string::npos);
}

TEST(RowCharts, GrowWithTheirRowsAndNoFaster) {
  const auto size_of = [](size_t rows) {
    BarChart chart{.labels = std::vector<std::string>(rows, "a row"),
                   .series = {{.values = std::vector<double>(rows, 1)}}};
    return draw(chart).elements.size();
  };
  const size_t some = size_of(1000), many = size_of(10000);
  EXPECT_LT(many, 11 * some);
}

}  // namespace
}  // namespace deberta::chart::rows_test
