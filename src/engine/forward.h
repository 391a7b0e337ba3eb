// One forward pass over a pack. The model's weights and the caller's results stay outside; scratch comes from one
// arena.
#pragma once
#include "base/arena.h"
#include "engine/pass.h"

namespace deberta {

// `batch` and `options` must have passed their checks. The arena grows to what the pass needs. Throws kOutOfMemory.
void run_forward(const Pass& pass, Arena& arena, ForwardResult& result);

}  // namespace deberta
