// Builds the parts of a tokenizer from the files of a folder.
#pragma once
#include <memory>
#include <string>

#include "base/json.h"
#include "deberta/tokenizer.h"
#include "text/hf_json/token_template.h"
#include "text/text_model.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_files.h"

namespace deberta {

struct LoadedTokenizer {
  std::unique_ptr<const TextModel> model;
  TokenizerConfig config;
  TokenTemplate around;
  bool is_fast = false;
  TokenizerSource source = TokenizerSource::kJson;
  Json settings = JsonObject{};  // tokenizer_config.json, as the older special_tokens_map.json changes it

  // Ids of pieces and of added tokens.
  size_t size() const;
};

// Throws like Tokenizer::load.
LoadedTokenizer load_tokenizer(const std::string& folder, TokenizerKind kind);

}  // namespace deberta
