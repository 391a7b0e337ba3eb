// Heat maps: cells in the colours that the bar says, numbers, labels that do not touch.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "chart/chart.h"
#include "chart/svg_case.h"

namespace deberta::chart::heat_map_test {
namespace {

using test::box_of;
using test::elements_of;
using test::expect_whole;
using test::with_class;

std::string svg_of(const HeatMap& map) {
  const std::string svg = svg_file(draw(map));
  expect_whole(svg);
  return svg;
}

std::vector<std::string> names(size_t count, const std::string& before = "t") {
  std::vector<std::string> made;
  for (size_t i = 0; i < count; ++i) made.push_back(before + std::to_string(i));
  return made;
}

// The cells, which have a text for the pointer.
std::vector<test::Element> cells_of(const std::string& svg) {
  std::vector<test::Element> cells;
  const std::vector<test::Element> all = elements_of(svg);
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].name == "rect" && all[i + 1].name == "title") cells.push_back(all[i]);
  }
  return cells;
}

TEST(HeatMaps, PutRowsBelowEachOtherAndColumnsSideBySide) {
  const std::string svg = svg_of({.title = "delta",
                                  .x_title = "key",
                                  .y_title = "query",
                                  .value_title = "row of the table",
                                  .columns = {"a", "b", "c"},
                                  .rows = {"x", "y"},
                                  .values = {0, 1, 2, 3, 4, 5}});
  const auto cells = cells_of(svg);
  ASSERT_EQ(cells.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    const test::Box box = box_of(cells[i]);
    EXPECT_NEAR(box.left, box_of(cells[0]).left + static_cast<double>(i % 3) * cells[0].number("width"), 1e-9);
    EXPECT_NEAR(box.top, box_of(cells[0]).top + static_cast<double>(i / 3) * cells[0].number("height"), 1e-9);
  }
  EXPECT_EQ(cells[0].of("class"), "s0");
  EXPECT_EQ(cells[5].of("class"), "s64");
  EXPECT_NE(svg.find("<title>y, b: 4</title>"), std::string::npos);
  for (const char* text : {">key<", ">query<", ">row of the table<"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
}

TEST(HeatMaps, MayBeginAtTheLeastValueAndHaveMoreDigits) {
  const HeatMap map{.columns = {"a", "b"}, .rows = {"x"}, .values = {255, 257}, .digits = 4, .begins_at_least = true};
  const std::string svg = svg_of(map);
  const auto cells = cells_of(svg);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].of("class"), "s0");
  EXPECT_EQ(cells[1].of("class"), "s64");
  for (const char* text : {">255<", ">257<"}) EXPECT_NE(svg.find(text), std::string::npos) << text;
  HeatMap same = map;
  same.values = {256, 256};
  EXPECT_EQ(cells_of(svg_of(same))[1].of("class"), "s0");
}

TEST(HeatMaps, HaveNothingInTheMiddleWhereTheyDiverge) {
  const std::string svg =
      svg_of({.columns = {"a", "b", "c"}, .rows = {"x"}, .values = {-2, 0, 1}, .ramp = Ramp::kDiverging});
  const auto cells = cells_of(svg);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].of("class"), "d0");
  EXPECT_EQ(cells[1].of("class"), "d32");
  EXPECT_EQ(cells[2].of("class"), "d48");
}

TEST(HeatMaps, ShareAScaleWhereTheyAreGivenOne) {
  const std::string svg = svg_of({.columns = {"a"}, .rows = {"x"}, .values = {5}, .most = 10});
  EXPECT_EQ(cells_of(svg).at(0).of("class"), "s32");
  EXPECT_NE(svg.find(">10<"), std::string::npos) << "the bar says so";
}

TEST(HeatMaps, HaveNumbersWhereTheyFitAndTheInkReads) {
  const std::string few = svg_of({.columns = names(6), .rows = names(6), .values = std::vector<double>(36, -5)});
  EXPECT_EQ(test::times_in(">-5</text>", few), 37u) << "each cell, and the bar";
  const std::string many =
      svg_of({.columns = names(32), .rows = names(32), .values = std::vector<double>(1024, 0.1234)});
  EXPECT_EQ(test::times_in(">0.12</text>", many), 0u);
}

TEST(HeatMaps, CrossOutWhatIsNotFinite) {
  const std::string svg = svg_of({.columns = {"a", "b"}, .rows = {"x"}, .values = {kMissing, 1}});
  EXPECT_EQ(cells_of(svg).size(), 1u);
  EXPECT_EQ(with_class(svg, "bad").size(), 1u);
  expect_whole(svg_file(draw(HeatMap{.columns = {"a"}, .rows = {"x"}, .values = {INFINITY}, .most = INFINITY})));
}

TEST(HeatMaps, WithoutValuesOrWithTooFewSaySo) {
  EXPECT_NE(svg_of({.title = "t", .columns = {}, .rows = {}, .values = {}}).find(">no values<"), std::string::npos);
  EXPECT_NE(svg_of({.columns = {"a", "b"}, .rows = {"x"}, .values = {1}}).find(">no values<"), std::string::npos);
}

TEST(HeatMaps, KeepLabelsApart) {
  for (const size_t count : {1u, 9u, 40u, 250u}) {
    for (const std::string& before : {std::string("t"), std::string(60, 'w')}) {
      const std::string svg = svg_of({.columns = names(count, before),
                                      .rows = names(count, before),
                                      .values = std::vector<double>(count * count, 1)});
      EXPECT_EQ(test::overlaps(svg, "label"), 0u) << count;
    }
  }
}

TEST(HeatMaps, OfManyCellsHaveOnePathForEachLevel) {
  HeatMap map{.columns = names(200), .rows = names(200), .values = {}};
  for (size_t i = 0; i < 40000; ++i) map.values.push_back(static_cast<double>(i % 1000));
  const std::string svg = svg_of(map);
  EXPECT_TRUE(cells_of(svg).empty());
  std::set<std::string> classes;
  for (const test::Element& element : elements_of(svg)) {
    if (element.name == "path" && element.of("class").starts_with("s")) classes.insert(element.of("class"));
  }
  EXPECT_EQ(classes.size(), 65u);
  EXPECT_LT(svg.size(), 40000u * 24 + 20000);
}

}  // namespace
}  // namespace deberta::chart::heat_map_test
