// tokenizer.json, the one-file form of the tokenizers library, as DeBERTa uses it: Unigram (v2, v3) and byte-level BPE
// (v1). Its components are known by name; one that is not computed is refused. Truncation, padding and the template of
// special tokens are the tokenizer's own (tokenizer.cpp), not the file's.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/special_tokens.h"
#include "text/text_model.h"

namespace deberta {

struct TokenizerJson {
  std::unique_ptr<const TextModel> model;
  std::optional<std::vector<AddedToken>> added;  // nothing: the files beside the model name them
};

// Throws kTokenizerFile, kUnsupported, kJson, kTooLarge, kFileNotFound.
TokenizerJson load_tokenizer_json(const std::string& path);

}  // namespace deberta
