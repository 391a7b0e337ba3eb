// UTF-8 by the table of well-formed byte sequences (Unicode standard, table 3-7).
#include "base/utf8.h"

namespace deberta {
namespace {

struct Lead {
  uint32_t size;       // 0: not a lead byte
  uint8_t second_low;  // range of the second byte, which rules out overlong forms and surrogates
  uint8_t second_high;
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

CodePoint decode_utf8(std::string_view text, size_t position) {
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(text[position + i]); };
  const uint8_t first = byte_at(0);
  const Lead lead = lead_of(first);
  if (lead.size == 1) return {first, 1, true};
  if (lead.size == 0) return {0xFFFD, 1, false};
  char32_t value = first & (0xFFu >> (lead.size + 1));
  for (uint32_t i = 1; i < lead.size; ++i) {
    const uint8_t low = i == 1 ? lead.second_low : 0x80;
    const uint8_t high = i == 1 ? lead.second_high : 0xBF;
    if (position + i >= text.size() || byte_at(i) < low || byte_at(i) > high) return {0xFFFD, i, false};
    value = value << 6 | (byte_at(i) & 0x3Fu);
  }
  return {value, lead.size, true};
}

void append_utf8(std::string& text, char32_t value) {
  const auto push = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (value < 0x80) {
    push(value);
  } else if (value < 0x800) {
    push(0xC0 | value >> 6);
    push(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    push(0xE0 | value >> 12);
    push(0x80 | (value >> 6 & 0x3F));
    push(0x80 | (value & 0x3F));
  } else {
    push(0xF0 | value >> 18);
    push(0x80 | (value >> 12 & 0x3F));
    push(0x80 | (value >> 6 & 0x3F));
    push(0x80 | (value & 0x3F));
  }
}

bool is_valid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (static_cast<uint8_t>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const CodePoint point = decode_utf8(text, i);
    if (!point.is_valid) return false;
    i += point.size_bytes;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (point.is_valid) {
      result.append(text, i, point.size_bytes);
    } else {
      append_utf8(result, 0xFFFD);
    }
    i += point.size_bytes;
  }
  return result;
}

size_t count_code_points(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return count;
}

std::string_view utf8_begin(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  while (most_bytes > 0 && (static_cast<uint8_t>(text[most_bytes]) & 0xC0) == 0x80) --most_bytes;
  return text.substr(0, most_bytes);
}

}  // namespace deberta
