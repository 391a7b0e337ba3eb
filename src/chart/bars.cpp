// Charts of bars: from 0 to the value, which stands at their end; ticks where targets are.
#include <algorithm>
#include <cmath>

#include "chart/chart.h"
#include "chart/rows.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

constexpr double kValueGap = 5;    // between a bar and its value
constexpr double kLeastRoom = 40;  // of the bars

double value_of(const std::vector<double>& values, size_t row) {
  return row < values.size() ? values[row] : kMissing;
}

std::string shown(double value) {
  return axis_number(value);
}

// Of all values and targets, and 0.
Ends ends_of(const BarChart& chart) {
  Ends ends;
  ends.add(0);
  for (const Bars& bars : chart.series) {
    for (const double value : bars.values) ends.add(value);
    for (const double target : bars.targets) ends.add(target);
  }
  return ends;
}

// What the values beside the bars need to the right of 0, or to its left.
double text_room(const BarChart& chart, bool is_left) {
  double most = 0;
  for (const Bars& bars : chart.series) {
    for (const double value : bars.values) {
      if (is_shown(value) && (value < 0) == is_left) most = std::max(most, text_width(shown(value), kFont) + kValueGap);
    }
  }
  return most;
}

// Whether the values beside the bars leave room for the bars.
bool has_values(const BarChart& chart, const RowLayout& layout) {
  return chart.width - 2 * kEdge - layout.labels_width - text_room(chart, true) - text_room(chart, false) >= kLeastRoom;
}

// The values beside the bars lie beyond the axis.
Scale scale_of(const BarChart& chart, const RowLayout& layout, bool is_valued) {
  Ends ends = ends_of(chart);
  if (ends.all.low == ends.all.high) ends.add(1);
  Scale scale = make_scale({}, ends, Margin::kNone);
  scale.begin = kEdge + layout.labels_width + (is_valued ? text_room(chart, true) : 0);
  scale.end = chart.width - kEdge - (is_valued ? std::max(text_room(chart, false), 8.0) : 8);
  return scale;
}

// A tick across the bar, on a ground that tells it from the bar.
std::string draw_target(double x, double top, double bottom) {
  return line_at(x, top, x, bottom, "target-ground") + line_at(x, top, x, bottom, "target");
}

std::string draw_bar(const BarChart& chart, size_t row, size_t number, const RowLayout& layout, const Scale& scale,
                     bool is_valued) {
  const Bars& bars = chart.series[number];
  const double value = value_of(bars.values, row), target = value_of(bars.targets, row);
  const double top = layout.middle(row, number) - layout.line / 2 + 1, height = layout.line - 2;
  std::string bar, mark, text;
  double end = scale.place(0);  // of what is drawn
  const bool is_left = value < 0;
  if (is_shown(target)) {
    mark = draw_target(scale.place(target), top - 2, top + height + 2);
    if ((target < 0) == is_left) end = scale.place(target);
  }
  if (is_shown(value)) {
    const double zero = scale.place(0), tip = scale.place(value);
    const char* kind = is_shown(target) && value < target ? "short " : "bar ";
    bar = rectangle(std::min(zero, tip), top, std::abs(tip - zero), height, kind + series_style(number),
                    about_row(chart.labels[row], bars.name, exact_number(value)));
    end = is_left ? std::min(end, tip) - kValueGap : std::max(end, tip) + kValueGap;
    if (is_valued) text = text_at(end, top + height / 2 + 4, is_left ? "label end" : "label", shown(value));
  }
  return bar + mark + text;
}

std::vector<Key> legend_of(const BarChart& chart) {
  std::vector<Key> keys = series_keys(chart.series, bar_key, "bar");
  const bool has_targets = std::ranges::any_of(chart.series, [](const Bars& bars) { return !bars.targets.empty(); });
  if (!has_targets || chart.target.empty()) return keys;
  keys.push_back({.mark = target_key(), .name = chart.target});
  bool is_any_short = false;
  for (const Bars& bars : chart.series) {
    for (size_t row = 0; row < bars.values.size(); ++row)
      is_any_short = is_any_short || bars.values[row] < value_of(bars.targets, row);
  }
  if (is_any_short) keys.push_back({.mark = bar_key("short c0"), .name = "below it"});
  return keys;
}

}  // namespace

Picture draw(const BarChart& chart) {
  Sheet sheet{.width = chart.width};
  add_head(sheet, chart.title, legend_of(chart), "");
  const RowLayout layout = row_layout(chart.labels, chart.series.size(), sheet.y, chart.width);
  const bool is_valued = has_values(chart, layout);
  const Scale scale = scale_of(chart, layout, is_valued);
  add_row_axis(sheet, layout, scale, {.title = chart.x_title});
  sheet.elements += draw_labels(chart.labels, layout);
  for (size_t row = 0; row < chart.labels.size(); ++row) {
    for (size_t number = 0; number < chart.series.size(); ++number)
      sheet.elements += draw_bar(chart, row, number, layout, scale, is_valued);
  }
  if (layout.rows > 0) sheet.elements += line_at(scale.place(0), layout.top, scale.place(0), layout.bottom(), "axis");
  return finished(std::move(sheet), chart.title);
}

}  // namespace deberta::chart
