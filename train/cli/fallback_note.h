// A note where a step ran on slow kernels though faster ones are chosen.
#pragma once
#include <string>

#include "train/run/hooks.h"

namespace deberta::train {

// Tells on_note after the first step, once, which operations no fast kernel computes in this model's shape. `kernels`:
// those of the run, a name.
RunHooks with_fallback_note(RunHooks hooks, const std::string& kernels);

}  // namespace deberta::train
