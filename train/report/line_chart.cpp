// Scales, ticks, thinned lines and markers, written as SVG elements.
#include "train/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "train/report/text.h"

namespace deberta::train {
namespace {

constexpr size_t kMostPoints = 1000;  // of a line
constexpr size_t kMostMarkers = 40;   // points with a circle and a tooltip
constexpr double kWidth = 600, kHeight = 260;
constexpr double kLeft = 58, kRight = 22, kTop = 10, kBottom = 38;
constexpr double kLogarithmicFrom = 100;  // highest to lowest value
constexpr int kTicks = 5;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
};

// Values to places in the drawing.
struct Axis {
  Range range;
  bool is_logarithmic = false;
  double begin = 0, end = 0;  // where range.low and range.high lie

  double place(double value) const {
    const auto at = [&](double v) { return is_logarithmic ? std::log(v) : v; };
    return begin + (at(value) - at(range.low)) / (at(range.high) - at(range.low)) * (end - begin);
  }
};

Axis step_axis(const LineChart& chart) {
  Range range{.low = 0, .high = 1};
  for (const ChartLine& line : chart.lines) range.add(static_cast<double>(line.points.back().step));
  return {.range = range, .begin = kLeft, .end = kWidth - kRight};
}

Axis value_axis(const LineChart& chart) {
  Range range;
  for (const ChartLine& line : chart.lines) {
    for (const Point& point : line.points) {
      if (std::isfinite(point.value)) range.add(point.value);
    }
  }
  if (range.is_empty()) range = {.low = 0, .high = 1};
  Axis axis{.range = range, .begin = kHeight - kBottom, .end = kTop};
  axis.is_logarithmic = chart.may_be_logarithmic && range.low > 0 && range.high >= kLogarithmicFrom * range.low;
  if (axis.is_logarithmic) {
    axis.range = {.low = range.low / 1.2, .high = range.high * 1.2};
    return axis;
  }
  constexpr double kMargin = 0.06;
  const double spread = range.high - range.low;
  // A flat line lies in the middle, and lines near zero stand on it.
  const double margin = spread > 0 ? kMargin * spread : std::max(std::abs(range.high) * 0.1, 1e-9);
  const bool stands_on_zero = range.low >= 0 && range.low < 0.25 * range.high;
  axis.range = {.low = stands_on_zero ? 0 : range.low - margin, .high = range.high + margin};
  return axis;
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", style, x1, y1, x2, y2);
}
std::string label(double x, double y, const char* style, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", style, x, y, escape_html(text));
}

std::string draw_axes(const Axis& steps, const Axis& values) {
  std::string svg;
  const std::vector<double> ticks = values.is_logarithmic ? logarithmic_ticks(values.range.low, values.range.high)
                                                          : linear_ticks(values.range.low, values.range.high, kTicks);
  for (const double tick : ticks) {
    const double y = values.place(tick);
    svg += line(kLeft, y, kWidth - kRight, y, "grid") + label(kLeft - 7, y + 4, "y", axis_number(tick));
  }
  const double floor = kHeight - kBottom;
  for (const double tick : linear_ticks(steps.range.low, steps.range.high, kTicks)) {
    if (tick != std::floor(tick)) continue;
    const double x = steps.place(tick);
    svg += line(x, floor, x, floor + 4, "axis") + label(x, floor + 18, "x", axis_number(tick));
  }
  return svg + line(kLeft, floor, kWidth - kRight, floor, "axis") +
         label((kLeft + kWidth - kRight) / 2, kHeight - 4, "x", "step");
}

std::string draw_line(const ChartLine& chart_line, size_t number, const Axis& steps, const Axis& values) {
  const std::vector<Point> points = thin_out(chart_line.points, kMostPoints);
  std::string path, marks, circles;
  bool is_apart = true;  // the next point begins a piece of the line
  for (size_t i = 0; i < points.size(); ++i) {
    const double x = steps.place(static_cast<double>(points[i].step));
    if (!std::isfinite(points[i].value)) {
      marks += fmt::format("M{:.1f} {:.1f}v-7", x, kHeight - kBottom);
      is_apart = true;
      continue;
    }
    const double y = values.place(points[i].value);
    const bool is_alone = is_apart && (i + 1 == points.size() || !std::isfinite(points[i + 1].value));
    // A point alone is a line of no length, whose round ends make a dot.
    path += fmt::format("{}{:.1f} {:.1f}{}", is_apart ? 'M' : 'L', x, y, is_alone ? "h0" : "");
    is_apart = false;
    if (points.size() > kMostMarkers) continue;
    circles += fmt::format("<circle class=\"dot c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>\n",
                           number, x, y,
                           escape_html(fmt::format("{}: {} at step {}", chart_line.label, exact_number(points[i].value),
                                                   grouped(points[i].step))));
  }
  std::string svg;
  if (!path.empty()) svg += fmt::format("<path class=\"line c{}\" d=\"{}\"/>\n", number, path);
  if (!marks.empty()) svg += fmt::format("<path class=\"bad\" d=\"{}\"/>\n", marks);
  return svg + circles;
}

std::string legend(const LineChart& chart) {
  std::string html = "<p class=\"legend\">";
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    const auto is_bad = [](const Point& point) { return !std::isfinite(point.value); };
    const auto bad = std::count_if(line.points.begin(), line.points.end(), is_bad);
    html += fmt::format(
        "<span><svg class=\"key\" viewBox=\"0 0 20 8\" aria-hidden=\"true\"><path class=\"line c{}\" "
        "d=\"M2 4H18\"/></svg>{}: <b>{}</b>",
        i, escape_html(line.label), exact_number(line.points.back().value));
    if (bad > 0)
      html += fmt::format(" <em class=\"warning\">{} of {} not finite</em>", grouped(bad),
                          grouped(static_cast<int64_t>(line.points.size())));
    html += "</span> ";
  }
  if (!chart.resumes.empty())
    html +=
        "<span><svg class=\"key\" viewBox=\"0 0 20 8\" aria-hidden=\"true\"><path class=\"resume\" "
        "d=\"M2 4H18\"/></svg>went on after a break</span>";
  return html + "</p>\n";
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
      if (!std::isfinite(point->value)) {
        bad = &*point;
        continue;
      }
      if (lowest == nullptr || point->value < lowest->value) lowest = &*point;
      if (highest == nullptr || point->value > highest->value) highest = &*point;
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

std::vector<double> linear_ticks(double low, double high, int count) {
  // Steps that the numbers are too coarse for would never come to an end.
  if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high))) return {low};
  const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
  const double times = rough / power;
  const double step = power * (times < 1.5 ? 1 : times < 3 ? 2 : times < 7 ? 5 : 10);
  std::vector<double> ticks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n)
    ticks.push_back(n * step + 0.0);  // no -0
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high) {
  const bool has_few = high / low < 1e4;
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double times : {1.0, 2.0, 5.0}) {
      if ((times == 1 || has_few) && times * power >= low && times * power <= high) ticks.push_back(times * power);
    }
  }
  return ticks;
}

std::string draw(const LineChart& given) {
  LineChart chart = given;
  std::erase_if(chart.lines, [](const ChartLine& line) { return line.points.empty(); });
  if (chart.lines.empty()) return "";
  const Axis steps = step_axis(chart), values = value_axis(chart);
  std::string unit = chart.unit;
  if (values.is_logarithmic) unit += unit.empty() ? "logarithmic" : ", logarithmic";
  std::string svg = draw_axes(steps, values);
  for (const int64_t step : chart.resumes) {
    const auto at = static_cast<double>(step);
    if (at > steps.range.low && at <= steps.range.high)
      svg += line(steps.place(at), kTop, steps.place(at), kHeight - kBottom, "resume");
  }
  for (size_t i = 0; i < chart.lines.size(); ++i) svg += draw_line(chart.lines[i], i, steps, values);
  return fmt::format(
      "<figure>\n<figcaption>{0}{1}</figcaption>\n<svg viewBox=\"0 0 {2} {3}\" role=\"img\" aria-label=\"{0}\">\n{4}"
      "</svg>\n{5}</figure>\n",
      escape_html(chart.title), unit.empty() ? "" : fmt::format(" <span class=\"unit\">{}</span>", escape_html(unit)),
      kWidth, kHeight, svg, legend(chart));
}

}  // namespace deberta::train
