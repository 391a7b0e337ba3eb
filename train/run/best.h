// Which of the evaluated steps is the result of a run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/run/hooks.h"
#include "train/state/trainer_state.h"

namespace deberta::train {

// The checkpoint of the best step is kept.
struct BestRule {
  // As Learner::evaluate() names them: where two evaluations have the same of the first, the next decides. The greater
  // is better, of losses and the like (is_lower_better) the lower.
  std::vector<std::string> metrics = {};
  int64_t patience = 0;  // the run ends after this many evaluations without a better one; 0: never
};

// Whether the evaluation has the rule's first metric: others do not count for the best step.
bool is_evaluated(const BestRule& rule, const Metrics& metrics);

// What is not a number is never better, and any number is better than it.
bool is_better(const BestRule& rule, const Metrics& metrics, const std::optional<BestMetric>& best);

// An evaluation after that step as the best one. It has the rule's first metric.
BestMetric to_best(const BestRule& rule, const Metrics& metrics, int64_t step);

}  // namespace deberta::train
