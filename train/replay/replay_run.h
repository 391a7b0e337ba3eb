// Given batches, step by step, and what a trainer makes of them: losses, gradients, weights. Nothing is drawn at
// random, so that another program's figures can be set beside ours.
#pragma once
#include <cstdint>

#include "train/replay/settings.h"
#include "train/run/hooks.h"

namespace deberta::train {

// Returns the steps. Throws kInput for a file of another form, and what the parts throw.
int64_t replay(const ReplaySettings& settings, const RunHooks& hooks);

}  // namespace deberta::train
