// Box plots: boxes of the inner half with the median, whiskers to the ends.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "chart/chart.h"
#include "chart/rows.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

std::array<double, 5> parts_of(const Quantiles& box) {
  return {box.low, box.lower, box.median, box.upper, box.high};
}

bool is_shown_by(const Scale& scale, const Quantiles& box) {
  return std::ranges::all_of(parts_of(box), [&](double value) { return scale.holds(value); });
}

Scale scale_of(const BoxPlot& chart) {
  Ends ends;
  for (const Boxes& boxes : chart.series) {
    for (const Quantiles& box : boxes.values) {
      for (const double value : parts_of(box)) ends.add(value);
    }
  }
  return make_scale(chart.x, ends, Margin::kSome);
}

std::string about(const Quantiles& box) {
  return fmt::format("median {}, half of all from {} to {}, ends {} and {}", exact_number(box.median),
                     exact_number(box.lower), exact_number(box.upper), exact_number(box.low), exact_number(box.high));
}

std::string draw_box(const BoxPlot& chart, size_t row, size_t number, const RowLayout& layout, const Scale& scale) {
  const Boxes& boxes = chart.series[number];
  if (row >= boxes.values.size() || !is_shown_by(scale, boxes.values[row])) return "";
  const Quantiles& box = boxes.values[row];
  const double y = layout.middle(row, number), half = layout.line / 2 - 2, cap = half / 2;
  const double low = scale.place(box.low), lower = scale.place(box.lower), median = scale.place(box.median);
  const double upper = scale.place(box.upper), high = scale.place(box.high);
  const std::string style = series_style(number);
  return fmt::format("<path class=\"line {}\" d=\"M{} {}V{}M{} {}H{}M{} {}H{}M{} {}V{}\"/>\n", style, px(low),
                     px(y - cap), px(y + cap), px(low), px(y), px(lower), px(upper), px(y), px(high), px(high),
                     px(y - cap), px(y + cap)) +
         rectangle(lower, y - half, upper - lower, 2 * half, "box " + style,
                   about_row(chart.labels[row], boxes.name, about(box))) +
         line_at(median, y - half, median, y + half, "median " + style);
}

}  // namespace

Picture draw(const BoxPlot& chart) {
  Sheet sheet{.width = chart.width};
  add_head(sheet, chart.title, series_keys(chart.series, bar_key, "box"), "");
  const RowLayout layout = row_layout(chart.labels, chart.series.size(), sheet.y, chart.width);
  Scale scale = scale_of(chart);
  scale.begin = kEdge + layout.labels_width, scale.end = chart.width - kEdge - 8;
  add_row_axis(sheet, layout, scale, chart.x);
  sheet.elements += draw_labels(chart.labels, layout);
  for (size_t row = 0; row < chart.labels.size(); ++row) {
    for (size_t number = 0; number < chart.series.size(); ++number)
      sheet.elements += draw_box(chart, row, number, layout, scale);
  }
  return finished(std::move(sheet), chart.title);
}

}  // namespace deberta::chart
