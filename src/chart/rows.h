// What charts of rows share: labels to the left, for each label a group of lines, one per series, and an axis below.
#pragma once
#include <string>
#include <vector>

#include "chart/frame.h"
#include "chart/svg.h"

namespace deberta::chart {

struct RowLayout {
  double labels_width = 0;  // of the column to the left
  double top = 0;           // of the first row
  double line = 0;          // height of the line of one series
  size_t series = 1;
  size_t rows = 0;

  double group() const;                                // height of a row
  double middle(size_t row) const;                     // of a whole row
  double middle(size_t row, size_t one_series) const;  // of the line of one series
  double bottom() const;
};

// Labels take what they need, up to half of the width.
RowLayout row_layout(const std::vector<std::string>& labels, size_t series, double top, double width);

std::string draw_labels(const std::vector<std::string>& labels, const RowLayout& layout);

// A legend entry for each series that has a name. `mark`: of frame.h; `style` of it: "bar".
template <class Series>
std::vector<Key> series_keys(const std::vector<Series>& all, std::string (*mark)(std::string_view), const char* style) {
  std::vector<Key> keys;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].name.empty()) keys.push_back({.mark = mark(style + (' ' + series_style(i))), .name = all[i].name});
  }
  return keys;
}

// The axis below the rows, of a scale whose ends are set. Moves sheet.y below it.
void add_row_axis(Sheet& sheet, const RowLayout& layout, const Scale& scale, const Axis& axis);

// "a label, a series: what", without the parts that are empty.
std::string about_row(const std::string& label, const std::string& series, const std::string& what);

}  // namespace deberta::chart
