// One step of a model on one loss, and all that it leaves.
#pragma once
#include <functional>
#include <string>

#include "train/objectives/loss.h"
#include "train/replay/replay_files.h"
#include "train/replay/settings.h"
#include "train/step/trainer.h"

namespace deberta::train {

// Its figures, gradients and weights go under the step's name.
void replay_step(Trainer& trainer, const ReplaySettings& settings, const std::function<Loss()>& loss,
                 const std::string& step, ReplayResults& results);

}  // namespace deberta::train
