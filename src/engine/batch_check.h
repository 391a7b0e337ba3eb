// Is a batch, and what is asked of it, something this model can compute?
#pragma once
#include "config/model_config.h"
#include "engine/batch.h"
#include "engine/model.h"

namespace deberta {

// Throws kInput (malformed, positions or types outside their tables), kTokenId.
void check_batch(const Batch& batch, const ModelConfig& config);
// Throws kInput for layers or rows that do not exist or do not ascend.
void check_options(const ForwardOptions& options, const Batch& batch, const ModelConfig& config);

}  // namespace deberta
