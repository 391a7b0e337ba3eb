// Is a batch, with its options, something this model can compute?
#pragma once
#include "deberta/model.h"
#include "engine/variant.h"

namespace deberta {

// Throws kInput (malformed, positions or types outside their tables), kTokenId.
void check_batch(const Batch& batch, const Variant& variant, const ForwardOptions& options);
// Throws kInput for layers, rows, groups or words that do not exist or do not ascend, or that the head does not take.
void check_options(const ForwardOptions& options, const Batch& batch, const Variant& variant);

}  // namespace deberta
