// The added and special tokens of a tokenizer, and its flags, as transformers 4.57 derives them from the JSON files
// next to a model, for its slow tokenizer and for its fast one. All of the files are optional.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/hf_json/token_template.h"
#include "text/special_tokens.h"
#include "text/text_model.h"
#include "text/tokenizer_settings.h"

namespace deberta {

struct TokenizerConfig {
  std::vector<AddedToken> added;  // contents and ids differ
  SpecialIds special;
  // For a slow tokenizer, piece to id: a piece with an added token's text has that token's id, even if another token
  // has since taken this id.
  std::unordered_map<int32_t, int32_t> renamed;
  bool do_lower_case = false;
  bool split_by_punct = false;
  bool add_prefix_space = false;     // byte-level model: puts a space before a text that begins with none
  std::optional<size_t> max_length;  // model_max_length
};

// For the ids of a slow tokenizer. Throws kTokenizerFile.
TokenizerConfig make_slow_config(const TokenizerSettings& settings, const TextModel& model, const std::string& folder);

// What the file of a fast tokenizer, or its conversion from other files, has of its own.
struct FastParts {
  std::vector<AddedToken> tokens;  // by id
  TokenTemplate around = {};       // from a tokenizer.json
  bool adds_prefix_space = false;  // ByteLevel's add_prefix_space
  bool may_change_prefix = true;   // the settings may say otherwise
};

// For the ids of a fast tokenizer. Throws kTokenizerFile.
TokenizerConfig make_fast_config(const TokenizerSettings& settings, const TokenizerFiles& files, const TextModel& model,
                                 const FastParts& parts, const std::string& folder);

}  // namespace deberta
