// The sums are cleared at each line of the log, which comes between steps: the difference over a step is not affected.
#include "train/run/recent_loss.h"

#include <numeric>

namespace deberta::train {
namespace {

constexpr size_t kSteps = 10;

}  // namespace

void RecentLoss::before(const Sums& sums) {
  loss_ = sum_of(sums, "loss");
  divisor_ = sum_of(sums, "divisor");
}

void RecentLoss::after(const Sums& sums) {
  const double loss = sum_of(sums, "loss"), divisor = sum_of(sums, "divisor");
  if (divisor <= divisor_) return;
  losses_.push_back((loss - loss_) / (divisor - divisor_));
  if (losses_.size() > kSteps) losses_.pop_front();
}

std::optional<double> RecentLoss::mean() const {
  if (losses_.size() < kSteps) return std::nullopt;
  return std::accumulate(losses_.begin(), losses_.end(), 0.0) / kSteps;
}

}  // namespace deberta::train
