// Vectors of texts or of their tokens, from the encoder's hidden states.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heads/batches.h"
#include "heads/model_directory.h"
#include "tasks/pooling.h"

namespace deberta {

struct EmbeddingOptions {
  EncodingRules rules;
  std::optional<Pooling> pooling = Pooling::kMean;  // none: a vector for each token
  bool normalizes = false;
  int64_t layer = -1;  // 0 .. N, or from the end
};

struct EmbeddingAnswer {
  std::vector<float> vectors;  // [D], or [L, D] without pooling, the special tokens among them
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Throws kInput for a layer that the model has not, and what encoding and the model throw.
std::vector<EmbeddingAnswer> embed(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                   const EmbeddingOptions& options = {});

}  // namespace deberta
