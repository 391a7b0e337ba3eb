// Whether a model fits, before anything is allocated for it.
#pragma once
#include <cstdint>

#include "engine/variant.h"

namespace deberta {

// Where embedding tables are read: in the checkpoint's files, or in the memory of a device.
enum class TablePlace { kFiles, kDevice };

// Bytes of the packed weights and projected tables that load_weights allocates, to a few per cent; of embedding tables
// those that a device copies.
uint64_t estimate_weight_bytes(const Checkpoint& checkpoint, const Variant& variant,
                               TablePlace tables = TablePlace::kFiles);

// `variant` belongs to `checkpoint`, whose tensors have been compared with it. Throws kOutOfMemory with both numbers.
void check_memory(const Checkpoint& checkpoint, const Variant& variant, uint64_t limit_bytes);

}  // namespace deberta
