// A replay (replay_run.h) of replaced-token detection.
#pragma once
#include <cstdint>

#include "train/replay/settings.h"
#include "train/run/hooks.h"

namespace deberta::train {

// Throws kUsage without a folder of the generator, and what replay() does.
int64_t replay_pair(const ReplaySettings& settings, const RunHooks& hooks);

}  // namespace deberta::train
