// Whether a model fits, before anything is allocated for it.
#pragma once
#include <cstdint>

#include "engine/variant.h"

namespace deberta {

// Bytes of the packed weights and projected tables that load_weights allocates on the host, to a few per cent.
// Embedding tables stay in the checkpoint's files and are not counted.
uint64_t estimate_weight_bytes(const Checkpoint& checkpoint, const Variant& variant);

// `variant` belongs to `checkpoint`, whose tensors have been compared with it. Throws kOutOfMemory with both numbers.
void check_memory(const Checkpoint& checkpoint, const Variant& variant, uint64_t limit_bytes);

}  // namespace deberta
