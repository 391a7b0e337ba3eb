// Joins surrogate pairs across pieces; an unpaired one becomes a byte that UTF-8 repair will replace.
#include "data/utf16.h"

#include <utility>

#include "base/utf8.h"

namespace deberta {
namespace {

constexpr char kBadByte = '\xFF';

bool is_high(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

std::string Utf16Decoder::decode(std::string_view bytes, bool is_end) {
  std::string in = std::exchange(rest_, {});
  in += bytes;
  const auto unit_at = [&](size_t i) {
    const auto first = static_cast<unsigned char>(in[i]), second = static_cast<unsigned char>(in[i + 1]);
    return static_cast<char32_t>(is_big_endian_ ? first << 8 | second : second << 8 | first);
  };
  std::string text;
  size_t at = 0;
  while (at + 1 < in.size()) {
    const char32_t unit = unit_at(at);
    const bool has_next = at + 3 < in.size();
    if (is_high(unit) && !has_next && !is_end) break;
    if (is_high(unit) && has_next && is_low(unit_at(at + 2))) {
      append_utf8(text, 0x10000 + ((unit - 0xD800) << 10) + (unit_at(at + 2) - 0xDC00));
      at += 4;
      continue;
    }
    if (is_high(unit) || is_low(unit))
      text += kBadByte;
    else
      append_utf8(text, unit);
    at += 2;
  }
  if (is_end && at < in.size()) text += kBadByte;
  if (!is_end) rest_ = in.substr(at);
  return text;
}

}  // namespace deberta
