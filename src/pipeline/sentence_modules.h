// Folders of sentence-transformers: modules.json, the pooling, the layers behind it. Other folders have no modules.json
// and say nothing.
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

// The function on the logits of a CrossEncoder that version 6 wrote: it wins over what config.json says. Throws kConfig
// and kJson.
void read_cross_encoder(const std::string& path, ModelConfig& config);

// Hidden rows of one text to its vector, and how long that is. `modules` has a pooling.
std::vector<float> sentence_vector(std::span<const float> rows_LD, size_t columns, const SentenceModules& modules);
size_t columns_after(const SentenceModules& modules, size_t columns);

}  // namespace deberta
