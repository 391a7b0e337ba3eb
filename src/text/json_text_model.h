// The Unigram model of a tokenizer.json as a TextModel: normalise, cut at "normalized" added tokens, put a space in
// front, cut into words, split each.
#pragma once
#include <memory>
#include <vector>

#include "text/json_normalizer.h"
#include "text/special_tokens.h"
#include "text/spm_model.h"
#include "text/text_model.h"

namespace deberta {

// The pre-tokenizer Metaspace.
struct Metaspace {
  bool adds_prefix_space = true;
  bool splits_words = true;
};

struct JsonUnigram {
  SpmModel model;              // pieces with their texts; their scores are not used
  std::vector<double> scores;  // by id
  JsonNormalizer normalizer;
  Metaspace metaspace;
  std::vector<bool> is_special;    // by id: the piece is a special token
  std::vector<AddedToken> tokens;  // found in the normalised text
};

std::unique_ptr<const TextModel> make_json_text_model(JsonUnigram parts);

}  // namespace deberta
