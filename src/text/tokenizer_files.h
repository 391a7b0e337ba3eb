// Which of the tokenizers in a folder to use, chosen as AutoTokenizer of transformers 4.57 does: by tokenizer_class,
// then by the model_type of config.json; by the names of the files if neither is given.
#pragma once
#include <cstdint>
#include <string>

#include "deberta/tokenizer.h"

namespace deberta {

// The supported classes of transformers; kGeneric is PreTrainedTokenizerFast, any tokenizer.json, and so is kRoberta,
// with other names of tokens by default.
enum class TokenizerClass : uint8_t { kUnknown, kDeberta, kDebertaV2, kBert, kRoberta, kGeneric };

enum class TokenizerSource : uint8_t { kSpm, kBpe, kBpeEncoder, kVocabTxt, kJson };

struct TokenizerFiles {
  TokenizerClass of_class = TokenizerClass::kUnknown;
  TokenizerSource source = TokenizerSource::kJson;
  std::string path;      // path of the file, or of the folder of vocab.json and merges.txt
  bool is_fast = false;  // the ids are those of the library's fast tokenizer
};

// Throws kFileNotFound when the files of the class are not there, kUnsupported for other classes and for code in
// the folder (auto_map), kTokenizerFile for values of wrong types, kJson.
TokenizerFiles choose_tokenizer_files(const std::string& folder, TokenizerKind kind);

}  // namespace deberta
