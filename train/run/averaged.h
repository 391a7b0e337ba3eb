// Exchanges a learner's weights with their averages for as long as it lives.
#pragma once
#include "train/run/learner.h"

namespace deberta::train {

class Averaged {
 public:
  explicit Averaged(Learner& learner) : learner_(learner) { learner_.exchange_averages(); }
  ~Averaged() { learner_.exchange_averages(); }
  Averaged(const Averaged&) = delete;
  Averaged& operator=(const Averaged&) = delete;

 private:
  Learner& learner_;
};

}  // namespace deberta::train
