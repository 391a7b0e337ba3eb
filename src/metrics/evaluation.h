// Metrics of answers against gold labels, with bootstrap intervals. An evaluation holds plain data: no texts, no
// model. Every metric is a pure function of a sample of its units, in double precision.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deberta {

struct Metric {
  std::string name;
  std::optional<double> value;  // none: not defined for these answers
  std::string note = {};        // why it is not defined, or what it does not say
  std::optional<double> low = {};
  std::optional<double> high = {};
  bool is_sampled = true;  // has an interval
};

class Evaluation {
 public:
  virtual ~Evaluation() = default;
  // The number of sampled units: rows; questions whose answers count together; sentences.
  virtual size_t units() const = 0;
  // Over the given units, which may repeat; always the same metrics in the same order.
  virtual std::vector<Metric> metrics(std::span<const uint32_t> units) const = 0;
};

struct BootstrapRules {
  size_t samples = 1000;  // 0: no intervals
  uint64_t seed = 0;
  double level = 0.95;
  std::function<void(size_t done)> each = {};  // after each sample; may throw to stop
};

// The metrics of all units, each with the percentiles (1 - level) / 2 and (1 + level) / 2, linear between order
// statistics, of its values in `samples` samples with replacement. Samples without a value are left out.
std::vector<Metric> evaluate(const Evaluation& evaluation, const BootstrapRules& rules);
// The same of these units alone.
std::vector<Metric> evaluate(const Evaluation& evaluation, std::span<const uint32_t> units,
                             const BootstrapRules& rules);

// A sample of `units` numbers below `units`, by Philox from the seed and the sample's number.
std::vector<uint32_t> draw_units(size_t units, uint64_t seed, size_t sample);

// Between order statistics, as numpy by default. Requires at least one value, sorted, and fraction in [0, 1].
double percentile(std::span<const double> sorted, double fraction);

}  // namespace deberta
