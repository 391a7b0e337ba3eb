// Token classification: texts in, entities out.
#pragma once
#include <span>
#include <vector>

#include "heads/batches.h"
#include "heads/model_directory.h"
#include "tasks/entities.h"

namespace deberta {

struct TokenOptions {
  EncodingRules rules;
  EntityRules entities;
};

struct TokenAnswer {
  std::vector<Entity> entities;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Both token heads, the original one with a projection and the plain one. Throws kTask when the checkpoint has neither,
// and what encoding and the model throw.
std::vector<TokenAnswer> tag(const ModelDirectory& directory, std::span<const TextInput> inputs,
                             const TokenOptions& options = {});

}  // namespace deberta
