// The mean of checkpoints of one form, element by element: in double, rounded once.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "checkpoint/conversion.h"
#include "config/model_config.h"
#include "deberta/checkpoint.h"

namespace deberta {

struct AveragedModel {
  Checkpoint checkpoint;  // fp32 in memory, everything else in the files of `base`
  std::vector<Change> changes;
};

// Averages `base` and the models in `folders` with equal weights. Throws kConfig (configurations that make other models
// of the same tensors), kCalibration (a model calibrated for int8), kTensors (all that are missing, unexpected, of
// another shape or not fp32), and what opening them throws. Tokenizers are not compared.
AveragedModel average_models(const Checkpoint& base, const ModelConfig& config, std::span<const std::string> folders,
                             const OpenOptions& options = {});

}  // namespace deberta
