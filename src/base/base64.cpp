// Parsing is strict: whole groups of four characters, and no bits left over at the end.
#include "base/base64.h"

#include <cstdint>

namespace deberta {
namespace {

std::optional<uint32_t> digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a' + 26);
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0' + 52);
  if (c == '+') return 62U;
  if (c == '/') return 63U;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  uint32_t count = 0;  // bits not yet written
  for (const char c : text) {
    const auto digit = digit_of(c);
    if (!digit) return std::nullopt;
    bits = bits << 6 | *digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(static_cast<uint8_t>(bits >> count));
    bits &= (1U << count) - 1;
  }
  if (bits != 0) return std::nullopt;
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < group.size() ? static_cast<uint8_t>(group[i]) : 0U);
    for (size_t i = 0; i < 4; ++i) text += i <= group.size() ? kDigits[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

}  // namespace deberta
