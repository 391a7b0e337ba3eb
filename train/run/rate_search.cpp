// Takes steps at geometrically rising rates, smooths the losses, and picks the steepest fall before the minimum.
#include "train/run/rate_search.h"

#include <algorithm>
#include <cmath>

#include "base/refuse_argument.h"

namespace deberta::train {
namespace {

constexpr double kKept = 0.9;  // share of the average that stays with each new loss

double rate_of(const RateSearchSettings& settings, int64_t step, int64_t steps) {
  const double part = steps > 1 ? static_cast<double>(step) / static_cast<double>(steps - 1) : 0;
  return settings.lowest * std::pow(settings.highest / settings.lowest, part);
}

void append(double rate, double loss, std::vector<RateSearch::Tried>& tried) {
  const double weight_before = 1 - std::pow(kKept, static_cast<double>(tried.size()));
  const double sum = (tried.empty() ? 0 : tried.back().smoothed * weight_before) * kKept + loss * (1 - kKept);
  const double weight = 1 - std::pow(kKept, static_cast<double>(tried.size() + 1));
  tried.push_back({rate, loss, sum / weight});
}

// Both are of the falling part: nothing after the lowest point counts.
void choose(RateSearch& search) {
  if (search.tried.empty()) return;
  const auto lowest = std::ranges::min_element(search.tried, {}, &RateSearch::Tried::smoothed);
  search.lowest = lowest->rate;
  constexpr double kRounding = 1e-9;  // is no fall
  double most = kRounding * std::abs(lowest->smoothed);
  for (auto after = search.tried.begin() + 1; after <= lowest; ++after) {
    const auto before = after - 1;
    const double fall = before->smoothed - after->smoothed;
    if (fall <= most) continue;
    most = fall;
    search.steepest = after->rate;
  }
}

}  // namespace

std::optional<RateSearch> search_rates(Learner& learner, const RateSearchSettings& settings, const RunHooks& hooks) {
  if (!(settings.learning_rate > 0))
    refuse_argument("learning_rate",
                    "expected a number above 0, as the rates that are tried are multiples of it, got 0");
  RateSearch search;
  const int64_t steps = std::min(settings.steps, learner.total_steps());
  const auto check_stop = [&] {
    if (hooks.stop() == StopRequest::kStop) throw StepLeft{};
  };
  learner.begin(0);
  double lowest = HUGE_VAL;
  for (int64_t step = 0; step < steps; ++step) {
    const double rate = rate_of(settings, step, steps);
    Sums sums{{"steps", 1}};
    StepReport report;
    try {
      check_stop();
      report = learner.step({.step = step,
                             .factor = rate / settings.learning_rate,
                             .max_norm = settings.max_norm,
                             .check_stop = check_stop},
                            sums);
    } catch (const StepLeft&) {
      return std::nullopt;
    }
    hooks.on_progress({Phase::kTraining, static_cast<uint64_t>(step + 1), 0,
                       static_cast<double>(step + 1) / static_cast<double>(steps)});
    if (!report.is_finite) break;
    append(rate, learner.metrics(sums).front().second, search.tried);
    lowest = std::min(lowest, search.tried.back().smoothed);
    if (search.tried.back().smoothed > settings.end * lowest) break;
  }
  choose(search);
  return search;
}

}  // namespace deberta::train
