// Where rows lie, their labels and their axis.
#include "chart/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "chart/text.h"

namespace deberta::chart {
namespace {

constexpr double kAlone = 18, kTogether = 14;  // the line of a series
constexpr double kBetween = 4;                 // one row and the next
constexpr double kRowLabelGap = 10;

}  // namespace

double RowLayout::group() const {
  return line * static_cast<double>(series) + kBetween;
}
double RowLayout::middle(size_t row) const {
  return top + group() * (static_cast<double>(row) + 0.5);
}
double RowLayout::middle(size_t row, size_t one_series) const {
  return top + group() * static_cast<double>(row) + kBetween / 2 + line * (static_cast<double>(one_series) + 0.5);
}
double RowLayout::bottom() const {
  return top + group() * static_cast<double>(rows);
}

RowLayout row_layout(const std::vector<std::string>& labels, size_t series, double top, double width) {
  double widest = 0;
  for (const std::string& label : labels) widest = std::max(widest, text_width(label, kFont));
  return {.labels_width = std::min(widest, width / 2) + kRowLabelGap,
          .top = top,
          .line = series > 1 ? kTogether : kAlone,
          .series = std::max<size_t>(series, 1),
          .rows = labels.size()};
}

std::string draw_labels(const std::vector<std::string>& labels, const RowLayout& layout) {
  std::string svg;
  const double width = layout.labels_width - kRowLabelGap;
  for (size_t row = 0; row < labels.size(); ++row)
    svg += cut_text_at(kEdge + width, layout.middle(row) + 4, "label end", labels[row], width);
  return svg;
}

void add_row_axis(Sheet& sheet, const RowLayout& layout, const Scale& scale, const Axis& axis) {
  sheet.elements += base_axis(scale, axis, layout.top, layout.bottom(), sheet.width, true);
  sheet.y = layout.bottom() + base_axis_height(axis, scale);
}

std::string about_row(const std::string& label, const std::string& series, const std::string& what) {
  if (label.empty() && series.empty()) return what;
  return fmt::format("{}{}{}: {}", label, label.empty() || series.empty() ? "" : ", ", series, what);
}

}  // namespace deberta::chart
