// UTF-8: checking, repairing, walking, counting.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deberta {

struct CodePoint {
  char32_t value;  // U+FFFD when not valid
  uint32_t
      size_bytes;  // bytes taken: 1..4; for an ill-formed part its maximal subpart (Unicode 3.9, as Python "replace")
  bool is_valid;
};

// The code point at `position` (< text.size()). Overlong forms, surrogates and values above U+10FFFF are not valid.
CodePoint decode_utf8(std::string_view text, size_t position);

void append_utf8(std::string& text, char32_t value);

bool is_valid_utf8(std::string_view text);

// `text` with each ill-formed maximal subpart replaced by U+FFFD, as Python's errors="replace" does.
std::string replace_invalid_utf8(std::string_view text);

// The first bytes of valid UTF-8, at most `most_bytes`, without a part of a character at their end.
std::string_view utf8_begin(std::string_view text, size_t most_bytes);

// Number of code points of valid UTF-8.
size_t count_code_points(std::string_view text);

}  // namespace deberta
