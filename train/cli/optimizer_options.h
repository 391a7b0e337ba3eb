// From the options of an optimiser to its settings.
#pragma once
#include "options/verb_options.h"
#include "train/step/parameter_group.h"

namespace deberta::train {

inline AdamOptions adam_options(const OptimizerSettings& given) {
  return {.beta1 = given.adam_beta1,
          .beta2 = given.adam_beta2,
          .epsilon = given.adam_epsilon,
          .weight_decay = given.weight_decay,
          .has_bias_correction = given.optimizer == OptimizerChoice::kAdamW};
}

// With what else a run says of its optimiser.
inline OptimizerOptions optimizer_options(const OptimizerSettings& given, const RunOptions& run) {
  OptimizerOptions options{.adam = adam_options(given), .loss_scale = run.loss_scale};
  options.adam.average_decay = run.ema_decay;
  return options;
}

}  // namespace deberta::train
