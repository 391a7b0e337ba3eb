// What holds for every encoding of every text.
#pragma once
#include <string_view>

#include "base/utf8.h"
#include "deberta/tokenizer.h"
#include "fuzz.h"

namespace deberta::fuzz {

inline bool is_border(std::string_view text, size_t at) {
  return at == text.size() || (static_cast<uint8_t>(text[at]) & 0xC0) != 0x80;
}

// Offsets in order, inside the text, on code point boundaries, the same in both units.
inline void check_offsets(const Encoding& encoding, std::string_view text) {
  FUZZ_REQUIRE(encoding.bytes.size() == encoding.size() && encoding.chars.size() == encoding.size());
  uint32_t last = 0;
  for (size_t i = 0; i < encoding.size(); ++i) {
    if (encoding.is_special[i] != 0) continue;
    const Offset bytes = encoding.bytes[i], chars = encoding.chars[i];
    FUZZ_REQUIRE(bytes.begin >= last && bytes.end >= bytes.begin && bytes.end <= text.size());
    FUZZ_REQUIRE(is_border(text, bytes.begin) && is_border(text, bytes.end));
    FUZZ_REQUIRE(chars.end - chars.begin == count_code_points(text.substr(bytes.begin, bytes.end - bytes.begin)));
    last = bytes.begin;
  }
}

// A text through one tokenizer and back.
inline Encoding check_text(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  Encoding encoding = tokenizer.encode(text, options);
  if (options.truncate != Truncate::kNone) FUZZ_REQUIRE(encoding.size() <= options.max_tokens);
  for (const int32_t id : encoding.ids) FUZZ_REQUIRE(id >= 0 && static_cast<size_t>(id) < tokenizer.size());
  check_offsets(encoding, text);
  FUZZ_REQUIRE(is_valid_utf8(tokenizer.decode(encoding.ids)));
  return encoding;
}

}  // namespace deberta::fuzz
