// Folders of sentence-transformers: modules.json, the pooling, the layers after it. Other folders have no modules.json
// and specify nothing.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/pipeline.h"

namespace deberta {

// How the folder computes vectors. Unsupported modules set a refusal, not an error, because other verbs do not need
// them. Throws kConfig (all wrong values of one file), kJson, and what opening the weights of a Dense throws.
SentenceModules load_sentence_modules(const std::string& path, int64_t hidden_size, const OpenOptions& options = {});

// The function on the logits of a CrossEncoder that version 6 wrote: it takes precedence over config.json. Throws
// kConfig and kJson.
void read_cross_encoder(const std::string& path, ModelConfig& config);

// From the hidden states of one text to its vector, and the width of that vector. `modules` has a pooling.
std::vector<float> sentence_vector(std::span<const float> rows_LD, size_t columns, const SentenceModules& modules);
size_t columns_after(const SentenceModules& modules, size_t columns);

}  // namespace deberta
