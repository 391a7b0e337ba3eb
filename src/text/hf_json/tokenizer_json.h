// tokenizer.json, the one-file form of the tokenizers library, as DeBERTa uses it: Unigram (v2, v3), byte-level BPE
// (v1) and WordPiece. Its components are known by name; all others are refused. Truncation and padding are
// the tokenizer's own (tokenizer.cpp), not the file's.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/bpe/bpe_model.h"
#include "text/hf_json/token_template.h"
#include "text/special_tokens.h"
#include "text/text_model.h"
#include "text/tokenizer_settings.h"

namespace deberta {

struct TokenizerDocument {
  Json root;
  std::string path;
  std::vector<AddedToken> added;  // the document's own; the files beside it may add others
};

struct TokenizerJson {
  std::unique_ptr<TextModel> model;
  TokenTemplate around;
  bool adds_prefix_space = false;  // ByteLevel's add_prefix_space
  bool may_change_prefix = true;   // the settings beside the file may say otherwise
};

// Throws kTokenizerFile, kJson, kTooLarge, kFileNotFound.
TokenizerDocument read_tokenizer_json(const std::string& path);

// Some settings of BERT's class override its file's. Throws kTokenizerFile, kUnsupported.
TokenizerJson make_tokenizer_json(const TokenizerDocument& document, TokenizerClass of_class,
                                  const TokenizerSettings& settings);

// A byte-level model as the library has it: no holes, a piece for every byte. Throws kTokenizerFile.
void check_complete(const BpeModel& model, const std::string& where);

}  // namespace deberta
