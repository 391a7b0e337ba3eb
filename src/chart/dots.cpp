// Charts of dots: a value for each row, with a line of its error to either side.
#include <fmt/format.h>

#include <algorithm>

#include "chart/chart.h"
#include "chart/rows.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

bool has_reach(const Dot& dot) {
  return is_shown(dot.reach) && dot.reach > 0;
}

Scale scale_of(const DotChart& chart) {
  Ends ends;
  for (const Dots& dots : chart.series) {
    for (const Dot& dot : dots.values) {
      ends.add(dot.value);
      if (!has_reach(dot)) continue;
      ends.add(dot.value - dot.reach);
      ends.add(dot.value + dot.reach);
    }
  }
  return make_scale(chart.x, ends, Margin::kSome);
}

std::string about(const Dot& dot) {
  if (!dot.about.empty()) return dot.about;
  return exact_number(dot.value) + (has_reach(dot) ? " \u00b1 " + exact_number(dot.reach) : "");
}

std::string draw_dot(const DotChart& chart, size_t row, size_t number, const RowLayout& layout, const Scale& scale) {
  const Dots& dots = chart.series[number];
  if (row >= dots.values.size() || !scale.holds(dots.values[row].value)) return "";
  const Dot& dot = dots.values[row];
  const double y = layout.middle(row, number);
  const std::string style = series_style(number);
  std::string svg;
  if (has_reach(dot)) {
    // What the scale does not hold lies beyond it: the line goes to its end.
    const auto place = [&](double value, double end) { return scale.holds(value) ? scale.place(value) : end; };
    const double low = dot.value - dot.reach;
    svg += line_at(place(low, scale.begin), y, place(dot.value + dot.reach, scale.end), y, "line " + style);
  }
  return svg +
         circle(scale.place(dot.value), y, 4, "dot " + style, about_row(chart.labels[row], dots.name, about(dot)));
}

// The column to the right, as wide as its widest note or its title.
double notes_width(const DotChart& chart) {
  if (chart.notes.empty()) return 0;
  double most = text_width(chart.notes_title, kFont);
  for (const std::string& note : chart.notes) most = std::max(most, text_width(note, kFont));
  return std::min(most, 0.3 * chart.width) + 12;
}

// Beside the title, which nothing else stands below.
bool has_room_for_notes_title(const DotChart& chart) {
  if (chart.notes_title.empty()) return true;
  const bool has_legend = std::ranges::any_of(chart.series, [](const Dots& dots) { return !dots.name.empty(); });
  const double both = kBold * text_width(chart.title, kTitleFont) + text_width(chart.notes_title, kFont);
  return !has_legend && !chart.title.empty() && both < chart.width - 4 * kEdge;
}

std::string draw_notes(const DotChart& chart, const RowLayout& layout, double width) {
  const double x = chart.width - kEdge;
  std::string svg = cut_text_at(x, layout.top - 6, "note end", chart.notes_title, width);
  for (size_t row = 0; row < std::min(chart.notes.size(), chart.labels.size()); ++row)
    svg += cut_text_at(x, layout.middle(row) + 4, "label end", chart.notes[row], width);
  return svg;
}

}  // namespace

Picture draw(const DotChart& chart) {
  Sheet sheet{.width = chart.width};
  add_head(sheet, chart.title, series_keys(chart.series, dot_key, "dot"), "");
  if (!has_room_for_notes_title(chart)) sheet.y += kTextLine;
  const double notes = notes_width(chart);
  const RowLayout layout = row_layout(chart.labels, chart.series.size(), sheet.y, chart.width - notes);
  Scale scale = scale_of(chart);
  scale.begin = kEdge + layout.labels_width, scale.end = chart.width - kEdge - std::max(notes, 8.0);
  add_row_axis(sheet, layout, scale, chart.x);
  sheet.elements += draw_labels(chart.labels, layout);
  for (size_t row = 0; row < chart.labels.size(); ++row) {
    for (size_t number = 0; number < chart.series.size(); ++number)
      sheet.elements += draw_dot(chart, row, number, layout, scale);
  }
  if (notes > 0) sheet.elements += draw_notes(chart, layout, notes - 12);
  return finished(std::move(sheet), chart.title);
}

}  // namespace deberta::chart
