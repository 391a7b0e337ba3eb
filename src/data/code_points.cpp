// Walks the text once and keeps the byte at which each code point begins.
#include "data/code_points.h"

#include <algorithm>

#include "base/utf8.h"

namespace deberta {

CodePointTable::CodePointTable(std::string_view text) {
  for (size_t at = 0; at < text.size(); at += decode_utf8(text, at).size_bytes)
    starts_.push_back(static_cast<uint32_t>(at));
  starts_.push_back(static_cast<uint32_t>(text.size()));
}

TextSpan CodePointTable::span_of_bytes(size_t begin_byte, size_t end_byte) const {
  const auto position_of = [&](size_t byte) {
    return static_cast<size_t>(std::lower_bound(starts_.begin(), starts_.end(), byte) - starts_.begin());
  };
  return {position_of(begin_byte), position_of(end_byte), begin_byte, end_byte};
}

}  // namespace deberta
