// Files, figures, pages, and charts as JSON.
#include <gtest/gtest.h>

#include "base/json.h"
#include "chart/chart.h"
#include "chart/chart_json.h"
#include "chart/page.h"
#include "chart/svg_case.h"
#include "support/expect_error.h"

namespace deberta::chart::picture_test {
namespace {

using test::elements_of;
using test::expect_whole;
using test::times_in;
using test::with_class;

Picture picture_of(const std::string& json) {
  return draw_json(parse_json(json, "c.json"), "c.json");
}

LineChart line_of(const std::string& title, double width) {
  return {.title = title, .lines = {{.name = "a", .points = {{0, 1}, {1, 2}}}}, .width = width};
}

TEST(Pictures, AreFilesThatNeedNothingElse) {
  const std::string svg = svg_file(draw(line_of("t", 400)));
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(times_in("<style>", svg), 1u);
  EXPECT_EQ(with_class(svg, "paper").size(), 1u);
  EXPECT_EQ(elements_of(svg).front().of("width"), "400");
  for (const char* foreign : {"href", "url(", "@import", "<script", "var("})
    EXPECT_EQ(svg.find(foreign), std::string::npos) << foreign;
}

TEST(Pictures, StandSideBySide) {
  const Picture whole =
      arranged({draw(line_of("one", 400)), draw(line_of("two", 300)),
                draw(HeatMap{.title = "three", .columns = {"a"}, .rows = {"b"}, .values = {1}, .width = 350})},
               2);
  const std::string svg = svg_file(whole);
  expect_whole(svg);
  EXPECT_EQ(whole.width, 712);
  const auto titles = with_class(svg, "title");
  ASSERT_EQ(titles.size(), 3u);
  EXPECT_EQ(titles[0].y, titles[1].y);
  EXPECT_EQ(titles[0].x, titles[2].x);
  EXPECT_GT(titles[2].y, titles[0].y + 200);
  EXPECT_NE(svg.find(".chart .s64{"), std::string::npos) << "with the colours of its map";
  EXPECT_EQ(elements_of(svg).front().of("aria-label"), "one; two; three");
}

TEST(Pictures, InAPageTakeItsStyle) {
  const std::string figure = svg_figure(draw(line_of("<t>", 400)));
  EXPECT_TRUE(figure.starts_with("<figure>\n<svg class=\"chart\" viewBox=\"0 0 400 "));
  for (const char* part : {"<style", "xmlns", "class=\"paper\"", "<t>"})
    EXPECT_EQ(figure.find(part), std::string::npos) << part;
  const std::string page =
      make_page("<page>", figure + section("s", to_html({.header = {"h"}, .rows = {{"1", "<td class=\"x\">2</td>"}}})));
  EXPECT_NE(page.find(chart_style()), std::string::npos);
  EXPECT_NE(page.find(palette_css()), std::string::npos);
  EXPECT_NE(page.find("<title>&lt;page&gt;</title>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>1</td><td class=\"x\">2</td></tr>"), std::string::npos);
  EXPECT_EQ(section("s", to_html({.header = {"h"}, .rows = {}})), "");
}

TEST(ChartJson, DrawsWhatTheStructsDraw) {
  const LineChart lines{.title = "t",
                        .x = {.title = "step", .low = 0, .is_whole = true},
                        .y = {.title = "nats", .spacing = Spacing::kLogarithmicIfWide},
                        .lines = {{.name = "a", .points = {{0, 1}, {1, kMissing}, {2, 300}}, .note = "300"}},
                        .divisions = {.name = "d", .at = {1}},
                        .width = 500};
  EXPECT_EQ(svg_file(picture_of(R"({"kind": "lines", "title": "t", "x": {"title": "step", "low": 0, "whole": true},
    "y": {"title": "nats", "spacing": "logarithmic_if_wide"}, "series": [{"name": "a", "note": "300", "points": [[0, 1], [1, null], [2, 300]]}],
    "divisions": {"name": "d", "at": [1]}, "width": 500})")),
            svg_file(draw(lines)));
  EXPECT_EQ(
      svg_file(picture_of(
          R"({"kind": "bars", "labels": ["a", "b"], "x_title": "x", "series": [{"values": [1, null], "targets": [2, 1]}], "target": "t"})")),
      svg_file(draw(BarChart{.x_title = "x",
                             .labels = {"a", "b"},
                             .series = {{.values = {1, kMissing}, .targets = {2, 1}}},
                             .target = "t"})));
  EXPECT_EQ(
      svg_file(picture_of(
          R"({"kind": "dots", "labels": ["a"], "series": [{"values": [[1, 0.5]]}], "notes": ["n"], "notes_title": "N"})")),
      svg_file(draw(DotChart{
          .labels = {"a"}, .series = {{.values = {{.value = 1, .reach = 0.5}}}}, .notes = {"n"}, .notes_title = "N"})));
  EXPECT_EQ(svg_file(picture_of(
                R"({"kind": "boxes", "labels": ["a"], "series": [{"name": "s", "values": [[1, 2, 3, 4, 5]]}]})")),
            svg_file(draw(BoxPlot{.labels = {"a"}, .series = {{.name = "s", .values = {{1, 2, 3, 4, 5}}}}})));
  EXPECT_EQ(
      svg_file(picture_of(
          R"({"kind": "heat_map", "columns": ["a", "b"], "rows": ["x"], "values": [[1, -1]], "ramp": "diverging", "most": 2,
    "x_title": "key", "y_title": "query", "value_title": "score"})")),
      svg_file(draw(HeatMap{.x_title = "key",
                            .y_title = "query",
                            .value_title = "score",
                            .columns = {"a", "b"},
                            .rows = {"x"},
                            .values = {1, -1},
                            .ramp = Ramp::kDiverging,
                            .most = 2})));
}

TEST(Diagrams, HaveTheirBoxesWhereTheyAreLaidOut) {
  const std::string svg = svg_file(picture_of(R"({"kind": "diagram", "title": "rooms", "groups": ["library", "program"],
    "boxes": [{"text": "a<b", "x": 20, "y": 0, "width": 80, "height": 30, "group": 0}, {"text": "other", "x": 20, "y": 44, "width": 80, "height": 30, "group": 1},
              {"text": "1", "x": 0, "y": 0, "width": 20, "height": 30}],
    "arrows": [{"points": [[60, 44], [60, 30]]}]})"));
  expect_whole(svg);
  const auto boxes = with_class(svg, "box");
  ASSERT_EQ(boxes.size(), 4u) << "two, and two keys";
  EXPECT_EQ(boxes[2].number("x"), boxes[3].number("x"));
  EXPECT_EQ(boxes[3].number("y"), boxes[2].number("y") + 44);
  EXPECT_TRUE(boxes[2].has_class("c0") && boxes[3].has_class("c1"));
  EXPECT_NE(svg.find(">a&lt;b<"), std::string::npos);
  const auto arrows = with_class(svg, "arrow");
  ASSERT_EQ(arrows.size(), 1u);
  EXPECT_EQ(test::box_of(arrows[0]).top, boxes[2].number("y") + 30);
  EXPECT_EQ(times_in("M", arrows[0].of("d")), 3u) << "the line, and two of its tip";
  expect_whole(svg_file(draw(Diagram{.groups = {},
                                     .blocks = {{.text = "a", .x = kMissing, .width = 9, .height = 9}},
                                     .arrows = {{{0, kMissing}, {1, 1}}}})));
}

TEST(ChartJson, ArrangesSeveral) {
  const std::string one = R"({"kind": "lines", "title": "t", "series": []})";
  const Picture picture = picture_of("{\"columns\": 2, \"charts\": [" + one + ", " + one + ", " + one + "]}");
  EXPECT_EQ(picture.width, 2 * 640 + 12);
  EXPECT_EQ(with_class(svg_file(picture), "title").size(), 3u);
}

TEST(ChartJson, SaysWhichMemberIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "expected an object, got"},
      {"{}", "kind: expected lines, bars, dots, boxes, heat_map or diagram, got none"},
      {R"({"kind": "pie"})", "kind: expected lines, bars, dots, boxes, heat_map or diagram, got \"pie\""},
      {R"({"kind": "lines", "titel": "t"})", "titel: expected one of kind, title, x, y, width, series, divisions"},
      {R"({"kind": "lines", "series": [{"points": [[0, 1], [1, "2"]]}]})",
       "series[0].points[1][1]: expected a number or null, got \"2\""},
      {R"({"kind": "lines", "series": [{"points": [[0]]}]})", "series[0].points[0]: expected a list of 2 numbers"},
      {R"({"kind": "lines", "x": {"spacing": "log"}})",
       "x.spacing: expected linear, logarithmic or logarithmic_if_wide, got \"log\""},
      {R"({"kind": "lines", "width": 5})", "width: expected a number in 200..4000, got 5"},
      {R"({"kind": "bars", "labels": ["a"], "series": [{"values": [1, 2]}]})",
       "series[0].values: expected as many as there are labels, 1, got 2"},
      {R"({"kind": "bars", "labels": "a"})", "labels: expected a list, got \"a\""},
      {R"({"kind": "dots", "labels": ["a"], "notes": ["b", "c"], "series": []})",
       "notes: expected as many as there are labels, 1, got 2"},
      {R"({"kind": "heat_map", "columns": ["a"], "rows": ["b"], "values": []})",
       "values: expected 1 lists, one for each of the rows, got 0"},
      {R"({"kind": "heat_map", "ramp": "rainbow"})", "ramp: expected sequential or diverging, got \"rainbow\""},
      {R"({"kind": "diagram", "groups": ["a"], "boxes": [{"group": 1}]})",
       "boxes[0].group: expected the number of one of 1 groups, from 0, got 1"},
      {R"({"kind": "diagram", "arrows": [{"points": [[0, -1]]}]})",
       "arrows[0].points: expected numbers in 0..4000, got [0, -1]"},
      {R"({"charts": []})", "charts: expected at least one, got none"},
      {R"({"charts": [{"kind": "lines", "title": 1}]})", "charts[0].title: expected a text, got 1"},
      {R"({"charts": [{"kind": "lines"}], "columns": 1.5})", "columns: expected a whole number, got 1.5"},
  };
  for (const auto& [json, message] : cases) EXPECT_ERROR(picture_of(json), kInput, message);
}

}  // namespace
}  // namespace deberta::chart::picture_test
