// From the logits of a token head to labels of tokens, words and entities. Pure functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/tags.h"
#include "deberta/answer.h"
#include "deberta/tokenizer.h"

namespace deberta {

// What each label of a model means.
std::vector<Tag> tags_of(const std::vector<std::string>& labels);

// `logits_TC`: a row of C logits for each token of `encoding`; rows of special tokens are not read. `tags_C`: of the
// labels. `rules` names an aggregation. Every entity covers at least one character: a piece that stands for none is
// part of the next one. Throws kNotFinite.
std::vector<Entity> find_entities(std::span<const float> logits_TC, const std::vector<std::string>& labels,
                                  std::span<const Tag> tags_C, const Encoding& encoding, const EntityRules& rules);

}  // namespace deberta
