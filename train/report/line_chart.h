// Lines over the steps of a run, as an HTML figure with an inline SVG. Colours come from the page's style sheet
// (page.cpp), so that they follow light and dark.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "train/report/run_record.h"

namespace deberta::train {

struct ChartLine {
  std::string label;
  std::vector<Point> points;  // steps ascend
};

struct LineChart {
  std::string title;
  std::string unit;                 // of the values; "": they have none
  bool may_be_logarithmic = false;  // where positive values are a hundred times apart
  std::vector<ChartLine> lines;
  std::vector<int64_t> resumes = {};  // steps from which the run went on
};

// "" without a point. What is not finite is a gap in its line and a mark on the axis.
std::string draw(const LineChart& chart);

// At most `most` points (at least 8): the first, the last, and of each part between them the lowest, the highest and
// one that is not finite, if any.
std::vector<Point> thin_out(const std::vector<Point>& points, size_t most);

// Round numbers from `low` to `high`, about `count` of them.
std::vector<double> linear_ticks(double low, double high, int count);
// Powers of ten, with twice and five times them where there are few.
std::vector<double> logarithmic_ticks(double low, double high);

}  // namespace deberta::train
