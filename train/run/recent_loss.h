// The mean loss of the last ten steps of this process, whatever the log's lines are.
#pragma once
#include <deque>
#include <optional>

#include "train/run/sums.h"

namespace deberta::train {

class RecentLoss {
 public:
  // Around a step, whose loss is what the sums grow by. A step without a label counts for nothing.
  void before(const Sums& sums);
  void after(const Sums& sums);

  std::optional<double> mean() const;  // nothing before the tenth step

 private:
  double loss_ = 0, divisor_ = 0;  // before the step
  std::deque<double> losses_;
};

}  // namespace deberta::train
