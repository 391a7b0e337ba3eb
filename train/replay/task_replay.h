// A replay (replay_run.h) of a task's head.
#pragma once
#include <cstdint>

#include "train/replay/settings.h"
#include "train/run/hooks.h"

namespace deberta::train {

// Throws what replay() does.
int64_t replay_task(const ReplaySettings& settings, const RunHooks& hooks);

}  // namespace deberta::train
