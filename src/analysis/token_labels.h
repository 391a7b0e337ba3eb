// Tokens of a text as figures name them, and the token that a user's word means.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"

namespace deberta {

// The pieces of an encoding as the vocabulary has them.
std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const Encoding& encoding);

// The same for people: without the marks of word starts; a dot where nothing else is left.
std::vector<std::string> labels_of(const std::vector<std::string>& pieces);

// What an encoding was made of.
struct EncodedText {
  std::string_view first;
  std::string_view second;  // of a pair; else empty
};

// The first token of the first place in the texts where `word` stands between the edges of tokens: a word, a part of
// one or several; or else the first token whose piece it is ([CLS]). Throws kInput, naming `argument`.
size_t find_token(const Tokenizer& tokenizer, const Encoding& encoding, const EncodedText& texts, std::string_view word,
                  std::string_view argument);

}  // namespace deberta
