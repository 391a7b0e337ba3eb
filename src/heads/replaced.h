// Replaced-token detection: for each piece of a text, the probability that it was replaced.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "heads/batches.h"
#include "heads/model_directory.h"

namespace deberta {

struct ReplacedToken {
  int32_t token = 0;
  std::string piece;
  Offset chars;
  Offset bytes;
  float logit = 0;
  float score = 0;  // sigmoid of the logit
};

struct ReplacedAnswer {
  std::vector<ReplacedToken> pieces;  // without the special tokens of the template
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Throws kTask when the checkpoint has no head for replaced tokens, and what encoding and the model throw.
std::vector<ReplacedAnswer> detect_replaced(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                            const EncodingRules& rules = {});

}  // namespace deberta
