// Pieces with and without their marks; words by their bytes.
#include "analysis/token_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// U+2581 of SentencePiece; U+0120, the byte of a space in the alphabet of byte-level BPE.
constexpr std::string_view kMarks[] = {"\xE2\x96\x81", "\xC4\xA0"};
constexpr std::string_view kBareStart = "\xC2\xB7";  // a dot, where a mark looks like a bar

// Whether the tokens from `first` on, up to an edge of one, spell the word.
bool spells(const Encoding& encoding, const EncodedText& texts, size_t first, std::string_view word) {
  const int32_t type = encoding.type_ids.empty() ? 0 : encoding.type_ids[first];
  const std::string_view text = type == 0 ? texts.first : texts.second;
  const size_t begin = encoding.bytes[first].begin;
  if (begin > text.size() || !text.substr(begin).starts_with(word)) return false;
  for (size_t last = first; last < encoding.size() && encoding.is_special[last] == 0; ++last) {
    if (encoding.bytes[last].end >= begin + word.size()) return encoding.bytes[last].end == begin + word.size();
  }
  return false;
}

}  // namespace

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const Encoding& encoding) {
  std::vector<std::string> pieces;
  for (const int32_t id : encoding.ids) pieces.emplace_back(tokenizer.piece(id));
  return pieces;
}

std::vector<std::string> labels_of(const std::vector<std::string>& pieces) {
  std::vector<std::string> labels;
  for (std::string_view piece : pieces) {
    for (const std::string_view mark : kMarks) {
      if (piece.starts_with(mark)) piece.remove_prefix(mark.size());
    }
    labels.emplace_back(piece.empty() ? kBareStart : piece);
  }
  return labels;
}

size_t find_token(const Tokenizer& tokenizer, const Encoding& encoding, const EncodedText& texts, std::string_view word,
                  std::string_view argument) {
  for (size_t token = 0; token < encoding.size() && !word.empty(); ++token) {
    const bool is_text = encoding.is_special[token] == 0 && encoding.bytes[token].begin < encoding.bytes[token].end;
    if (is_text && spells(encoding, texts, token, word)) return token;
  }
  for (size_t token = 0; token < encoding.size(); ++token) {
    if (tokenizer.piece(encoding.ids[token]) == word) return token;
  }
  throw Error(ErrorCode::kInput,
              {{.message = fmt::format("expected a word or a piece of the text, got {}", quote_begin(word)),
                .argument = std::string(argument)}});
}

}  // namespace deberta
