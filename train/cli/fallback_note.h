// A note where a step ran on slow kernels though faster ones are chosen.
#pragma once
#include <string>

#include "train/run/hooks.h"

namespace deberta::train {

// Reports to on_note after the first step, once, which operations no fast kernel computes in this model's shape.
// `kernels`: the name of the run's kernels.
RunHooks with_fallback_note(RunHooks hooks, const std::string& kernels);

}  // namespace deberta::train
