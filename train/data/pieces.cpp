// Classifies every piece once: special, beginning a word, or continuing one.
#include "train/data/pieces.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "deberta/error.h"
#include "text/unicode/unicode.h"

namespace deberta::train {
namespace {

constexpr std::string_view kWordStart = "\xE2\x96\x81";   // U+2581, of SentencePiece
constexpr std::string_view kByteLevelSpace = "\xC4\xA0";  // U+0120, the space of byte-level vocabularies

// Categories Cc, Cf and Co, as far as they are in the basic plane.
bool is_control(char32_t point) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x600, 0x605},   {0x61C, 0x61C},   {0x6DD, 0x6DD},
      {0x70F, 0x70F},   {0x890, 0x891},   {0x8E2, 0x8E2},   {0x180E, 0x180E}, {0x200B, 0x200F}, {0x202A, 0x202E},
      {0x2060, 0x2064}, {0x2066, 0x206F}, {0xE000, 0xF8FF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const auto& range) { return range.first <= point && point <= range.second; });
}

bool is_single_mark(std::string_view text) {
  if (text.empty()) return false;
  const CodePoint point = decode_utf8(text, 0);
  return point.is_valid && point.size_bytes == text.size() &&
         (is_white_space(point.value) || is_control(point.value) || is_punctuation(point.value));
}

size_t pieces_with(const Tokenizer& tokenizer, std::string_view begin) {
  size_t count = 0;
  for (size_t id = 0; id < tokenizer.size(); ++id) {
    if (tokenizer.piece(static_cast<int32_t>(id)).starts_with(begin)) ++count;
  }
  return count;
}

bool continues_word(const Tokenizer& tokenizer, int32_t id, bool is_byte_level) {
  if (is_byte_level) {
    const std::string text = tokenizer.decode({&id, 1}, false);
    return !is_single_mark(text) && !text.starts_with(' ');
  }
  const std::string_view piece = tokenizer.piece(id);
  return !is_single_mark(piece) && !piece.starts_with(kWordStart);
}

}  // namespace

Pieces pieces_of(const Tokenizer& tokenizer) {
  const SpecialIds& special = tokenizer.special();
  if (special.mask < 0 || special.cls < 0 || special.sep < 0)
    throw Error(ErrorCode::kUnsupported, "tokenizer", "expected [MASK], [CLS] and [SEP] to train on, got none");
  Pieces pieces{special, std::vector<uint8_t>(tokenizer.size()), std::vector<uint8_t>(tokenizer.size())};
  const bool is_byte_level = pieces_with(tokenizer, kByteLevelSpace) > pieces_with(tokenizer, kWordStart);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    const auto own = {special.pad, special.cls, special.sep, special.unk, special.mask};
    pieces.is_special_V[i] = std::find(own.begin(), own.end(), id) != own.end();
    const bool begins = pieces.is_special_V[i] != 0 || tokenizer.is_special(id);
    pieces.continues_word_V[i] = !begins && continues_word(tokenizer, id, is_byte_level);
  }
  return pieces;
}

}  // namespace deberta::train
