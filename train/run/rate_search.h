// A search for a learning rate: a step at each of many rates, from far too small to far too large. The loss falls most
// where the rate is good.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "train/run/learner.h"

namespace deberta::train {

struct RateSearchSettings {
  double learning_rate = 0;  // the learner's highest
  double max_norm = 1;
  double lowest = 1e-8, highest = 1;  // rates, in equal ratios
  int64_t steps = 100;                // no more than the run has
  double end = 4;                     // the search ends where the smoothed loss is so many times its lowest
};

struct RateSearch {
  struct Tried {
    double rate = 0, loss = 0;
    double smoothed = 0;  // a running average, each loss a tenth, without the weight of what came before the first
  };
  std::vector<Tried> tried = {};
  std::optional<double> steepest = std::nullopt;  // the rate where the smoothed loss falls most; none: it never does
  std::optional<double> lowest = std::nullopt;    // where it is lowest
};

// Trains the learner, which is of no use afterwards. Nothing once stopped.
std::optional<RateSearch> search_rates(Learner& learner, const RateSearchSettings& settings, const RunHooks& hooks);

}  // namespace deberta::train
