// One forward pass over a pack. The model's weights and the caller's results stay outside; scratch comes from one
// memory of passes.
#pragma once
#include "engine/pass.h"
#include "engine/workspace.h"

namespace deberta {

// `batch` and `options` must have passed their checks. The memory grows to what the pass needs. Throws kOutOfMemory.
void run_forward(const Pass& pass, PassMemory& memory, ForwardResult& result);

}  // namespace deberta
