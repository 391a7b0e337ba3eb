// Tokens that a user adds to a tokenizer: in memory, and in the files of a folder.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "text/load_tokenizer.h"

namespace deberta {

[[noreturn]] void refuse_added_token(const std::string& message);  // kUsage

// Adds those of the contents that the tokenizer does not have, behind its ids, and returns them. Throws kUsage for one
// that cannot be a token, kUnsupported for a tokenizer of another kind than SentencePiece.
std::vector<AddedToken> add_tokens(std::span<const std::string> contents, const std::string& folder,
                                   LoadedTokenizer& loaded);

struct NamedText {
  std::string name, text;
};
// The files of the folder that change with these tokens: a folder with them and the rest of its tokenizer's files has
// the tokenizer that Tokenizer::load() returns with these tokens, here and in transformers. Throws what add_tokens()
// throws.
std::vector<NamedText> files_with_tokens(const std::string& folder, std::span<const std::string> contents);

}  // namespace deberta
