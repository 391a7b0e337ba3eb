// What the JSON files beside a model say: added and special tokens, do_lower_case (that of sentence-transformers too),
// split_by_punct.
// Read in the order in which transformers 4.57 reads them for its slow tokenizer; a bare model needs none of them.
#pragma once
#include <string>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/special_tokens.h"
#include "text/text_model.h"

namespace deberta {

struct TokenizerConfig {
  std::vector<AddedToken> added;  // contents and ids differ
  SpecialIds special;
  bool do_lower_case = false;
  bool split_by_punct = false;
};

// tokenizer_config.json, special_tokens_map.json and added_tokens.json of the folder, each of which may be missing.
// With `added`, those of a tokenizer.json, the files only say which token has which role. Throws kJson, kTooLarge,
// kTokenizerFile for wrong shapes, and kUnsupported for add_prefix_space.
TokenizerConfig load_tokenizer_config(const std::string& folder, const TextModel& model,
                                      const std::vector<AddedToken>* added = nullptr);

}  // namespace deberta
