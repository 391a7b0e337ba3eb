// Charts: what they show as plain structs, and draw(), which makes a Picture of each kind. A Picture becomes a file of
// its own (svg_file) or a figure of a page (svg_figure, with page.h). Titles, axes, legends and the scale of colours
// are inside; texts are escaped; work and size grow with the data and no faster.
// A value that is NaN or infinite is left out of the drawing and, in lines, counted in the legend.
#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chart/palette.h"

namespace deberta::chart {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// kLogarithmicIfWide: where all values are positive and the greatest is 100 times the least. A logarithmic axis shows
// positive values alone; without one it is linear.
enum class Spacing { kLinear, kLogarithmic, kLogarithmicIfWide };

struct Axis {
  std::string title = {};
  Spacing spacing = Spacing::kLinear;
  std::optional<double> low = {}, high = {};  // the axis reaches at least so far
  bool is_whole = false;                      // of whole numbers: no ticks between them
};

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

struct Line {
  std::string name = {};
  std::vector<Point> points;  // x ascends, if they are joined
  bool is_joined = true;
  std::string note = {};  // behind the name, in bold: a last value
};

// Vertical lines that divide a chart of lines.
struct Divisions {
  std::string name = {};
  std::vector<double> at = {};
};

struct LineChart {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Line> lines;
  Divisions divisions = {};
  double width = 640;
};

// ---- charts of rows: a label to the left, and in each row one value of each series

struct Bars {
  std::string name = {};
  std::vector<double> values;        // a label each
  std::vector<double> targets = {};  // likewise, or none: a tick across the bar; a bar that does not reach it is pale
};

struct BarChart {
  std::string title = {};
  std::string x_title = {};  // of the values, on an axis that has 0
  std::vector<std::string> labels;
  std::vector<Bars> series;
  std::string target = {};  // what the targets are
  double width = 640;
};

struct Dot {
  double value = kMissing;
  double reach = kMissing;  // of the line to either side; none without one
  std::string about = {};   // shown with the pointer on it; "": the numbers
};

struct Dots {
  std::string name = {};
  std::vector<Dot> values;
};

struct DotChart {
  std::string title = {};
  Axis x = {};
  std::vector<std::string> labels;
  std::vector<Dots> series;
  std::vector<std::string> notes = {};  // a label each, or none: a column to the right
  std::string notes_title = {};
  double width = 640;
};

struct Quantiles {
  double low = kMissing, lower = kMissing, median = kMissing, upper = kMissing, high = kMissing;
};

struct Boxes {
  std::string name = {};
  std::vector<Quantiles> values;
};

// Boxes from `lower` to `upper` with a line at the median, and whiskers to `low` and `high`.
struct BoxPlot {
  std::string title = {};
  Axis x = {};
  std::vector<std::string> labels;
  std::vector<Boxes> series;
  double width = 640;
};

// ---- a matrix

struct HeatMap {
  std::string title = {};
  std::string x_title = {}, y_title = {}, value_title = {};
  std::vector<std::string> columns, rows;
  std::vector<double> values;  // rows x columns, row by row
  // Sequential: from 0, or the least value if that is lower, to the greatest. Diverging: 0 is in the middle.
  Ramp ramp = Ramp::kSequential;
  std::optional<double> most = {};  // the colours reach at least so far: maps side by side can share a scale
  double width = 640;
  int digits = 2;                // significant ones of the numbers on cells
  bool begins_at_least = false;  // sequential: from the least value, wherever that is
};

// ---- a drawing of boxes

// A text in a frame of the colour of its group; without a group the text alone. From the upper left corner, in pixels.
struct Block {
  std::string text = {};
  double x = 0, y = 0, width = 0, height = 0;
  std::optional<size_t> group = {};
};

// Boxes that something else has laid out, and arrows along their points.
struct Diagram {
  std::string title = {};
  std::vector<std::string> groups;
  std::vector<Block> blocks;
  std::vector<std::vector<Point>> arrows = {};
};

// ---- pictures

// Elements of SVG, and what of the style sheet only they need.
struct Picture {
  double width = 0, height = 0;
  std::string title = {};
  std::string elements = {};
  std::set<std::string> rules = {};
};

Picture draw(const LineChart& chart);
Picture draw(const BarChart& chart);
Picture draw(const DotChart& chart);
Picture draw(const BoxPlot& chart);
Picture draw(const HeatMap& chart);
Picture draw(const Diagram& chart);

// In rows of `columns`, one below the other.
Picture arranged(const std::vector<Picture>& pictures, size_t columns);

// An SVG file with its style sheet, which follows prefers-color-scheme.
std::string svg_file(const Picture& picture);

// A <figure> for a page whose style sheet has chart_style().
std::string svg_figure(const Picture& picture);
std::string chart_style();

// At most `most` points (at least 8): the first, the last, and of each part between them the lowest, the highest and
// one that is not finite, if any.
std::vector<Point> thin_out(const std::vector<Point>& points, size_t most);

}  // namespace deberta::chart
