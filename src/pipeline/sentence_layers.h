// The sentence-transformers modules that transform the vector of a text, read from their folders.
#pragma once
#include <cstdint>
#include <string>

#include "deberta/checkpoint.h"
#include "deberta/pipeline.h"

namespace deberta {

constexpr int64_t kMaxColumns = 65536;  // in a vector

// Keeps the first reason why the vectors are not supported.
void refuse_module(SentenceModules& result, std::string reason);

// Each adds its layer to `result`, or the reason why not. `columns`: the output width of the module before. Throw
// kConfig (wrong values), kTensors (missing, left over, of another shape), kJson, and what opening the weights throws.
void read_dense(const std::string& folder, int64_t columns, const OpenOptions& options, SentenceModules& result);
void read_layer_norm(const std::string& folder, int64_t columns, const OpenOptions& options, SentenceModules& result);
void read_normalize(const std::string& folder, SentenceModules& result);

}  // namespace deberta
