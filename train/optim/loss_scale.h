// What a loss is multiplied by before it is differentiated, so that small gradients do not vanish in fp16; the
// original's rule. A power of two times a loss in fp32 changes no bit of a step.
#pragma once
#include <array>
#include <cmath>
#include <span>

namespace deberta::train {

class LossScale {
 public:
  static constexpr double kFirst = 16384;
  static constexpr double kCleanSteps = 250;  // steps in a row after which the scale is doubled
  static constexpr double kLowest = 1;

  explicit LossScale(double first = 0) : state_{first, 0} {}  // 0: none

  bool is_used() const { return state_[0] > 0; }
  double value() const { return is_used() ? state_[0] : 1; }

  // After a step whose gradients were finite.
  void count_clean() {
    if (!is_used() || ++state_[1] < kCleanSteps) return;
    state_ = {state_[0] * 2, 0};
  }
  // After gradients that were not. False: the scale is as low as it gets, and the step is lost.
  bool lower() {
    if (state_[0] <= kLowest) return false;
    state_ = {std::fmax(state_[0] / 2, kLowest), 0};
    return true;
  }

  // The scale and the clean steps: what a run that goes on needs.
  std::span<double, 2> state() { return state_; }
  std::span<const double, 2> state() const { return state_; }

 private:
  std::array<double, 2> state_;
};

}  // namespace deberta::train
