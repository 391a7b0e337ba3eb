// Charts of lines, and of points: thinned lines with gaps, marks of what is not finite, divisions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "chart/chart.h"
#include "chart/frame.h"
#include "chart/svg.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

constexpr size_t kMostPoints = 1000;  // of a line
constexpr size_t kMostMarkers = 40;   // points of a line with a circle and a text for the pointer
constexpr double kHeight = 210;       // of the drawing
constexpr int kValueTicks = 5;

struct Scales {
  Scale x, y;
};

Scale scale_of(const LineChart& chart, double Point::*part, const Axis& axis, Margin margin) {
  Ends ends;
  for (const Line& line : chart.lines) {
    for (const Point& point : line.points) ends.add(point.*part);
  }
  return make_scale(axis, ends, margin);
}

Scales scales_of(const LineChart& chart) {
  const bool has_points = std::ranges::any_of(chart.lines, [](const Line& line) { return !line.is_joined; });
  return {scale_of(chart, &Point::x, chart.x, has_points ? Margin::kSome : Margin::kNone),
          scale_of(chart, &Point::y, chart.y, Margin::kSome)};
}

std::string about(const LineChart& chart, const Line& line, const Point& point) {
  const std::string at = chart.x.title.empty() ? "at" : "at " + chart.x.title;
  return fmt::format("{}{}{} {} {}", line.name, line.name.empty() ? "" : ": ", exact_number(point.y), at,
                     exact_number(point.x));
}

std::string draw_line(const LineChart& chart, size_t number, const Scales& scales) {
  const Line& line = chart.lines[number];
  const std::vector<Point> points = thin_out(line.points, kMostPoints);
  const auto holds = [&](const Point& point) { return scales.x.holds(point.x) && scales.y.holds(point.y); };
  const std::string style = series_style(number);
  std::string path, marks, circles;
  bool is_apart = true;  // the next point begins a piece of the line
  for (size_t i = 0; i < points.size(); ++i) {
    if (!holds(points[i])) {
      if (scales.x.holds(points[i].x))
        marks += fmt::format("M{} {}v-7", px(scales.x.place(points[i].x)), px(scales.y.begin));
      is_apart = true;
      continue;
    }
    const double x = scales.x.place(points[i].x), y = scales.y.place(points[i].y);
    const bool is_alone = is_apart && (i + 1 == points.size() || !holds(points[i + 1]));
    // A point alone is a line of no length, whose round ends make a dot.
    path += fmt::format("{}{} {}{}", is_apart ? 'M' : 'L', px(x), px(y), is_alone ? "h0" : "");
    is_apart = false;
    if (line.is_joined && points.size() > kMostMarkers) continue;
    circles += circle(x, y, line.is_joined ? 3 : 4, "dot " + style, about(chart, line, points[i]));
  }
  std::string svg;
  if (!path.empty() && line.is_joined) svg += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", style, path);
  if (!marks.empty()) svg += fmt::format("<path class=\"bad\" d=\"{}\"/>\n", marks);
  return svg + circles;
}

std::vector<Key> keys_of(const LineChart& chart, const Scales& scales) {
  std::vector<Key> keys;
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    const auto bad = std::ranges::count_if(
        line.points, [&](const Point& point) { return !scales.x.holds(point.x) || !scales.y.holds(point.y); });
    if (line.name.empty() && line.note.empty() && bad == 0) continue;
    const std::string style = series_style(i);
    keys.push_back({.mark = line.is_joined ? line_key("line " + style) : dot_key("dot " + style),
                    .name = line.name,
                    .note = line.note});
    if (bad > 0)
      keys.back().warning = fmt::format("{} of {} {}", grouped(bad), grouped(static_cast<int64_t>(line.points.size())),
                                        scales.y.is_logarithmic ? "not finite or not positive" : "not finite");
  }
  if (!chart.divisions.name.empty() && !chart.divisions.at.empty())
    keys.push_back({.mark = line_key("division"), .name = chart.divisions.name});
  return keys;
}

std::string draw_divisions(const LineChart& chart, const Scales& scales) {
  std::string svg;
  for (const double at : chart.divisions.at) {
    if (!scales.x.holds(at) || at <= scales.x.range.low || at > scales.x.range.high) continue;
    svg += line_at(scales.x.place(at), scales.y.end, scales.x.place(at), scales.y.begin, "division");
  }
  return svg;
}

}  // namespace

std::vector<Point> thin_out(const std::vector<Point>& points, size_t most) {
  if (points.size() <= most) return points;
  constexpr size_t kOfEachPart = 3;
  const size_t parts = (most - 2) / kOfEachPart, inner = points.size() - 2;
  std::vector<Point> kept{points.front()};
  for (size_t part = 0; part < parts; ++part) {
    const auto begin = std::next(points.begin(), static_cast<std::ptrdiff_t>(1 + part * inner / parts));
    const auto end = std::next(points.begin(), static_cast<std::ptrdiff_t>(1 + (part + 1) * inner / parts));
    const Point *lowest = nullptr, *highest = nullptr, *bad = nullptr;
    for (auto point = begin; point != end; ++point) {
      if (!is_shown(point->y)) {
        bad = &*point;
        continue;
      }
      if (lowest == nullptr || point->y < lowest->y) lowest = &*point;
      if (highest == nullptr || point->y > highest->y) highest = &*point;
    }
    std::vector<const Point*> chosen;
    for (const Point* point : {lowest, highest, bad}) {
      if (point != nullptr && std::find(chosen.begin(), chosen.end(), point) == chosen.end()) chosen.push_back(point);
    }
    std::sort(chosen.begin(), chosen.end());  // as they are in `points`
    for (const Point* point : chosen) kept.push_back(*point);
  }
  kept.push_back(points.back());
  return kept;
}

Picture draw(const LineChart& chart) {
  Scales scales = scales_of(chart);
  Sheet sheet{.width = chart.width};
  add_head(sheet, chart.title, keys_of(chart, scales), axis_title(chart.y, scales.y));
  scales.y.begin = sheet.y + kHeight, scales.y.end = sheet.y;
  scales.x.begin = kEdge + label_width(scales.y, kValueTicks) + 8, scales.x.end = chart.width - kEdge - 8;
  sheet.elements += value_axis(scales.y, kValueTicks, scales.x.begin, scales.x.end) +
                    base_axis(scales.x, chart.x, scales.y.end, scales.y.begin, chart.width, false) +
                    draw_divisions(chart, scales);
  for (size_t i = 0; i < chart.lines.size(); ++i) sheet.elements += draw_line(chart, i, scales);
  sheet.y = scales.y.begin + base_axis_height(chart.x, scales.x);
  return finished(std::move(sheet), chart.title);
}

}  // namespace deberta::chart
