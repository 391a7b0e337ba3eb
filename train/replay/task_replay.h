// A replay (replay_run.h) of a task's head.
#pragma once
#include <functional>
#include <string>

#include "train/replay/replay_files.h"
#include "train/replay/replay_run.h"
#include "train/run/hooks.h"
#include "train/step/trainer.h"

namespace deberta::train {

int64_t replay_task(const ReplaySettings& settings, const RunHooks& hooks);

// One step on one loss: its figures, gradients and weights under the step's name.
void replay_step(Trainer& trainer, const ReplaySettings& settings, const std::function<Loss()>& loss,
                 const std::string& step, ReplayResults& results);

}  // namespace deberta::train
