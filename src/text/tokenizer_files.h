// Which of the tokenizers that a folder may hold is its own: as AutoTokenizer of transformers 4.57 decides it, by
// tokenizer_class, then by the model_type of config.json; by the names of the files where neither is said.
#pragma once
#include <cstdint>
#include <string>

#include "deberta/tokenizer.h"

namespace deberta {

// The classes of transformers that are computed here; kGeneric is PreTrainedTokenizerFast, any tokenizer.json.
enum class TokenizerClass : uint8_t { kUnknown, kDeberta, kDebertaV2, kBert, kGeneric };

enum class TokenizerSource : uint8_t { kSpm, kBpe, kBpeEncoder, kVocabTxt, kJson };

struct TokenizerFiles {
  TokenizerClass of_class = TokenizerClass::kUnknown;
  TokenizerSource source = TokenizerSource::kJson;
  std::string path;      // of the file, or of the folder of vocab.json and merges.txt
  bool is_fast = false;  // the ids are those of the library's fast tokenizer
};

// Throws kFileNotFound when the files of the class are not there, kUnsupported for a class that is not computed or for
// code of the folder's own (auto_map), kTokenizerFile for values of other types, kJson.
TokenizerFiles choose_tokenizer_files(const std::string& folder, TokenizerKind kind);

}  // namespace deberta
