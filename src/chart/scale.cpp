// Linear and logarithmic scales, and their ticks.
#include "chart/scale.h"

#include <algorithm>
#include <cmath>

#include "chart/text.h"

namespace deberta::chart {
namespace {

constexpr double kMost = 1e300, kLeast = 1e-300;
constexpr double kLogarithmicFrom = 100;  // greatest to least value
constexpr double kMargin = 0.06;          // of the spread
constexpr int kMostDigits = 17;

Range with_margin(Range range, const Axis& axis) {
  const double spread = range.high - range.low;
  // A flat line lies in the middle, and lines near zero stand on it.
  const double margin = spread > kLeast ? kMargin * spread : std::max(std::abs(range.high) * 0.1, 1e-9);
  const bool stands_on_zero = range.low >= 0 && range.low < 0.25 * range.high;
  Range wide{.low = stands_on_zero ? 0 : range.low - margin, .high = range.high + margin};
  if (axis.low && range.low == *axis.low) wide.low = range.low;
  if (axis.high && range.high == *axis.high) wide.high = range.high;
  return wide;
}

// Ends that are apart.
Range spread_out(Range range) {
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low > std::max(kLeast, 1e-12 * size)) return range;
  const double margin = std::max(0.1 * size, 1e-9);
  return {.low = range.low - margin, .high = range.high + margin};
}

}  // namespace

void Range::add(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

void Ends::add(double value) {
  if (!is_shown(value)) return;
  all.add(value);
  if (value > 0) positive.add(value);
}

bool is_shown(double value) {
  return std::abs(value) <= kMost;  // false for NaN
}

double Scale::place(double value) const {
  const auto at = [&](double v) { return is_logarithmic ? std::log(v) : v; };
  return begin + (at(value) - at(range.low)) / (at(range.high) - at(range.low)) * (end - begin);
}

bool Scale::holds(double value) const {
  return is_shown(value) && (!is_logarithmic || value > 0);
}

std::vector<double> Scale::ticks(int count) const {
  if (is_logarithmic) {
    const std::vector<double> powers = logarithmic_ticks(range.low, range.high);
    if (powers.size() > 1) return powers;
  }
  return linear_ticks(range.low, range.high, count);
}

Scale make_scale(const Axis& axis, const Ends& values, Margin margin) {
  Ends ends = values;
  for (const std::optional<double>& end : {axis.low, axis.high}) ends.add(end.value_or(kMissing));
  const bool is_wide = ends.all.low > 0 && ends.all.high >= kLogarithmicFrom * ends.all.low;
  Scale scale;
  scale.is_logarithmic = axis.spacing == Spacing::kLogarithmic ? !values.positive.is_empty()
                                                               : axis.spacing == Spacing::kLogarithmicIfWide && is_wide;
  if (scale.is_logarithmic) {
    scale.range = {.low = std::max(ends.positive.low, kLeast) / 1.2, .high = ends.positive.high * 1.2};
    return scale;
  }
  if (ends.all.is_empty()) ends.all = {.low = 0, .high = 1};
  scale.range = spread_out(margin == Margin::kSome ? with_margin(ends.all, axis) : ends.all);
  return scale;
}

std::vector<double> linear_ticks(double low, double high, int count) {
  // Steps that the numbers are too coarse for would never come to an end.
  if (high - low <= std::max(kLeast, 1e-12 * std::max(std::abs(low), std::abs(high)))) return {low};
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
  // Of hundreds of powers every nth: about ten are left.
  const double powers = std::floor(std::log10(high)) - std::floor(std::log10(low)) + 1;
  const double apart = std::max(1.0, std::ceil(powers / 10));
  std::vector<double> ticks;
  for (double n = std::floor(std::log10(low)); n <= std::log10(high); n += apart) {
    const double power = std::pow(10, n);
    for (const double times : {1.0, 2.0, 5.0}) {
      if ((times == 1 || has_few) && times * power >= low && times * power <= high) ticks.push_back(times * power);
    }
  }
  return ticks;
}

std::vector<std::string> tick_labels(const std::vector<double>& ticks) {
  std::vector<std::string> labels;
  for (int digits = 4; digits <= kMostDigits; ++digits) {
    labels.clear();
    for (const double tick : ticks) labels.push_back(axis_number(tick, digits));
    if (std::adjacent_find(labels.begin(), labels.end()) == labels.end()) break;
  }
  return labels;
}

}  // namespace deberta::chart
