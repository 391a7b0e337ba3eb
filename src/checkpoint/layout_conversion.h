// Converts attention between version 1 (fused in_proj, no key bias) and version 2 (three projections)
// (model-heads.md#layout-of-version-1): the same numbers in other places, so that a round trip gives the same bytes.
#pragma once
#include <string>
#include <vector>

#include "checkpoint/conversion.h"
#include "deberta/error.h"

namespace deberta {

// All reasons why `layout` cannot hold the model; empty: it can.
std::vector<Problem> find_layout_obstacles(const Checkpoint& checkpoint, const ModelConfig& config, Layout layout,
                                           const std::string& where);

// The attention tensors of every layer in the other layout, with canonical names and their own types; appends to
// `conversion` tensors, changes and made bytes. Throws kUnsupported (parts of different types).
void plan_layout(const Checkpoint& checkpoint, const ModelConfig& config, Layout layout, Conversion& conversion);

// Whether plan_layout writes or drops the tensor of this canonical name, so that the caller must not.
bool is_of_layout(const std::string& canonical_name);

}  // namespace deberta
