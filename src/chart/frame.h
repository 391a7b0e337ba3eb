// What charts of all kinds have around their drawing: title, legend, axes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chart/scale.h"

namespace deberta::chart {

// A picture while it grows downwards.
struct Sheet {
  double width = 0;
  double y = 0;  // of what comes next
  std::string elements = {};
};

// One entry of a legend. `mark`: elements in a box of 20 x 10.
struct Key {
  std::string mark;
  std::string name;
  std::string note = {};     // in bold
  std::string warning = {};  // in the colour of what is bad
};

// The title on at most three lines, the legend in as many rows as it needs, then `value_title` on a line of its own;
// nothing for what is empty.
void add_head(Sheet& sheet, const std::string& title, const std::vector<Key>& keys, const std::string& value_title);

// Marks of legends.
std::string line_key(std::string_view style);
std::string bar_key(std::string_view style);
std::string dot_key(std::string_view style);
std::string target_key();

// The title of an axis, which says so if it is logarithmic.
std::string axis_title(const Axis& axis, const Scale& scale);

// How wide the labels of an axis are at most.
double label_width(const Scale& scale, int count);

// Lines across the drawing with labels to their left (of a scale that goes up), or below them with the title (of one
// that goes right): as many as do not touch. The other ends of the lines: `from`, `to`.
std::string value_axis(const Scale& scale, int count, double from, double to);
std::string base_axis(const Scale& scale, const Axis& axis, double from, double to, double width, bool has_grid);
double base_axis_height(const Axis& axis, const Scale& scale);

// Everything so far, as a picture that ends `kEdge` below sheet.y.
Picture finished(Sheet sheet, std::string title);

}  // namespace deberta::chart
