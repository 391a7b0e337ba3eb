// Compares metric by metric, in the order of the rule.
#include "train/run/best.h"

#include <cmath>

#include "train/report/charts.h"

namespace deberta::train {
namespace {

const double* find(const Metrics& metrics, const std::string& name) {
  for (const auto& [metric, value] : metrics) {
    if (metric == name) return &value;
  }
  return nullptr;
}

}  // namespace

bool is_evaluated(const BestRule& rule, const Metrics& metrics) {
  return find(metrics, rule.metrics.front()) != nullptr;
}

bool is_better(const BestRule& rule, const Metrics& metrics, const std::optional<BestMetric>& best) {
  for (const std::string& name : rule.metrics) {
    const double* value = find(metrics, name);
    if (value == nullptr || std::isnan(*value)) return false;
    if (!best) return true;
    const std::optional<double> before = best->value_of(name);
    if (!before) return name == rule.metrics.front();  // another metric decided so far
    if (std::isnan(*before)) return true;
    if (*value != *before) return is_lower_better(name) ? *value < *before : *value > *before;
  }
  return false;
}

BestMetric to_best(const BestRule& rule, const Metrics& metrics, int64_t step) {
  const std::string& name = rule.metrics.front();
  BestMetric best{.name = name, .value = *find(metrics, name), .step = step};
  for (size_t i = 1; i < rule.metrics.size(); ++i) {
    if (const double* value = find(metrics, rule.metrics[i])) best.other_values.emplace(rule.metrics[i], *value);
  }
  return best;
}

}  // namespace deberta::train
