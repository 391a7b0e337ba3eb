// From the options of an optimiser to its settings.
#pragma once
#include "options/verb_options.h"
#include "train/step/parameter_group.h"

namespace deberta::train {

inline AdamOptions adam_options(const OptimizerSettings& requested) {
  return {.beta1 = requested.adam_beta1,
          .beta2 = requested.adam_beta2,
          .epsilon = requested.adam_epsilon,
          .weight_decay = requested.weight_decay,
          .has_bias_correction = requested.optimizer == OptimizerChoice::kAdamW};
}

// The same, with the run's own settings of its optimiser.
inline OptimizerOptions optimizer_options(const OptimizerSettings& requested, const RunOptions& run) {
  OptimizerOptions options{.adam = adam_options(requested), .loss_scale = run.loss_scale};
  options.adam.average_decay = run.ema_decay;
  return options;
}

}  // namespace deberta::train
