// From values to places in a picture, and the round numbers beside them.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chart/chart.h"

namespace deberta::chart {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value);
  bool is_empty() const { return low > high; }
};

// Whether a picture can show the value: NaN, infinity and what differences would overflow with are left out.
bool is_shown(double value);

// Of all values that a picture can show, and of the positive ones among them.
struct Ends {
  Range all, positive;

  void add(double value);  // which is left out unless is_shown()
};

struct Scale {
  Range range;
  bool is_logarithmic = false;
  double begin = 0, end = 0;  // where range.low and range.high lie

  double place(double value) const;
  bool holds(double value) const;  // is_shown(), and positive where the scale is logarithmic
  std::vector<double> ticks(int count) const;
};

// What the margin beyond the values is: kNone for axes that begin and end with them.
enum class Margin { kNone, kSome };

Scale make_scale(const Axis& axis, const Ends& ends, Margin margin);

// Round numbers from `low` to `high`, about `count` of them.
std::vector<double> linear_ticks(double low, double high, int count);
// Powers of ten, with twice and five times them where there are few.
std::vector<double> logarithmic_ticks(double low, double high);

// As few digits as tell neighbours apart, at least those of axis_number().
std::vector<std::string> tick_labels(const std::vector<double>& ticks);

}  // namespace deberta::chart
