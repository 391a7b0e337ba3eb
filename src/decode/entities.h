// From the logits of a token head to labels of tokens, words and entities. Pure functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/answer.h"
#include "deberta/tokenizer.h"

namespace deberta {

// `logits_TC`: a row of C logits for each token of `encoding`; rows of special tokens are not read. Throws kNotFinite.
std::vector<Entity> find_entities(std::span<const float> logits_TC, const std::vector<std::string>& labels,
                                  const Encoding& encoding, const EntityRules& rules);

}  // namespace deberta
