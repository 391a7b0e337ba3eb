// From the files of a folder to the parts of a tokenizer.
#pragma once
#include <memory>
#include <string>

#include "deberta/tokenizer.h"
#include "text/hf_json/token_template.h"
#include "text/text_model.h"
#include "text/tokenizer_config.h"

namespace deberta {

struct LoadedTokenizer {
  std::unique_ptr<const TextModel> model;
  TokenizerConfig config;
  TokenTemplate around;
  bool is_fast = false;
};

// Throws like Tokenizer::load.
LoadedTokenizer load_tokenizer(const std::string& folder, TokenizerKind kind);

}  // namespace deberta
