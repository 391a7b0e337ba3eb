// From the logits of a token head to labels of tokens, words and entities. Pure functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/encoding.h"

namespace deberta {

// How pieces become entities: each piece by itself; runs of pieces of one label; the label of a word from its first
// piece, its mean scores, or its most certain piece, then runs of words.
enum class Aggregation { kNone, kSimple, kFirst, kAverage, kMax };

struct Entity {
  std::string label;       // kNone: as the model names it ("B-PER"); else without "B-" and "I-"
  float score = 0;         // kNone: of the piece; else the mean over the pieces or words
  size_t first_token = 0;  // of the encoding
  size_t last_token = 0;
  Offset chars;  // in the text
  Offset bytes;
};

struct EntityRules {
  Aggregation aggregation = Aggregation::kSimple;
  std::vector<std::string> ignored = {"O"};  // labels left out of the answer
};

// `logits_TC`: a row of C logits for each token of `encoding`; rows of special tokens are not read. Throws kNotFinite.
std::vector<Entity> find_entities(std::span<const float> logits_TC, const std::vector<std::string>& labels,
                                  const Encoding& encoding, const EntityRules& rules);

}  // namespace deberta
