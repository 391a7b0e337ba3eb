// The bootstrap (Efron 1979), percentile intervals.
#include "metrics/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"

namespace deberta {

std::vector<uint32_t> draw_units(size_t units, uint64_t seed, size_t sample) {
  std::vector<uint32_t> drawn(units);
  const PhiloxKey key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  PhiloxCounter bits{};
  for (size_t i = 0; i < units; ++i) {
    if (i % 4 == 0) bits = philox({static_cast<uint32_t>(i / 4), static_cast<uint32_t>(sample), 0, 0}, key);
    // A number below `units` from 32 bits; no unit is likelier than another by more than units / 2^32.
    drawn[i] = static_cast<uint32_t>(uint64_t{bits[i % 4]} * units >> 32);
  }
  return drawn;
}

double percentile(std::span<const double> sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

std::vector<Metric> evaluate(const Evaluation& evaluation, const BootstrapRules& rules) {
  std::vector<uint32_t> all(evaluation.units());
  std::iota(all.begin(), all.end(), 0u);
  return evaluate(evaluation, all, rules);
}

std::vector<Metric> evaluate(const Evaluation& evaluation, std::span<const uint32_t> units,
                             const BootstrapRules& rules) {
  std::vector<Metric> metrics = evaluation.metrics(units);
  if (units.empty() || rules.samples == 0) return metrics;
  std::vector<std::vector<double>> values(metrics.size());
  for (size_t sample = 0; sample < rules.samples; ++sample) {
    std::vector<uint32_t> sampled = draw_units(units.size(), rules.seed, sample);
    for (uint32_t& unit : sampled) unit = units[unit];
    const std::vector<Metric> drawn = evaluation.metrics(sampled);
    for (size_t m = 0; m < metrics.size(); ++m) {
      if (drawn[m].value && metrics[m].is_sampled) values[m].push_back(*drawn[m].value);
    }
    if (rules.each) rules.each(sample + 1);
  }
  for (size_t m = 0; m < metrics.size(); ++m) {
    if (values[m].empty() || !metrics[m].value) continue;
    std::sort(values[m].begin(), values[m].end());
    metrics[m].low = percentile(values[m], (1 - rules.level) / 2);
    metrics[m].high = percentile(values[m], (1 + rules.level) / 2);
  }
  return metrics;
}

}  // namespace deberta
