#include "text/text_position.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode.h"

namespace deberta {
namespace {

bool is_ascii_space(char c) {
  return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
}

}  // namespace

bool TextPosition::is_space_at(size_t at, uint32_t& size_bytes) const {
  const char c = text_[at];
  if (static_cast<uint8_t>(c) < 0x80) return is_ascii_space(c);
  const CodePoint point = decode_utf8(text_, at);
  size_bytes = point.size_bytes;
  return is_white_space(point.value);
}

void TextPosition::go_to(size_t byte) {
  while (at_ < byte && at_ < text_.size()) {
    uint32_t size_bytes = 1;
    const bool is_space = is_space_at(at_, size_bytes);
    if (is_after_space_ && !is_space) ++words_;
    is_after_space_ = is_space;
    at_ += size_bytes;
    ++code_points_;
  }
}

int32_t TextPosition::word() const {
  uint32_t ignored = 0;
  const bool starts_one = is_after_space_ && at_ < text_.size() && !is_space_at(at_, ignored);
  return std::max(0, words_ + (starts_one ? 1 : 0) - 1);
}

// All bytes but the continuing ones.
uint32_t count_points(std::string_view text, size_t begin, size_t end) {
  uint32_t count = 0;
  for (size_t i = begin; i < end; ++i) count += (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
  return count;
}

}  // namespace deberta
