// A table of UTF-16 units before each byte.
#include "decode/offset_units.h"

#include "base/utf8.h"

namespace deberta {

OffsetUnits::OffsetUnits(OffsetUnit unit, std::string_view text) : unit_(unit) {
  if (unit_ != OffsetUnit::kUtf16) return;
  units_before_byte_.resize(text.size() + 1);
  uint32_t units = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    for (size_t k = 0; k < point.size_bytes; ++k) units_before_byte_[i + k] = units;
    units += point.value > 0xFFFF ? 2 : 1;
    i += point.size_bytes;
  }
  units_before_byte_[text.size()] = units;
}

Offset OffsetUnits::convert(Offset chars, Offset bytes) const {
  if (unit_ == OffsetUnit::kChars) return chars;
  if (unit_ == OffsetUnit::kBytes) return bytes;
  return {units_before_byte_[bytes.begin], units_before_byte_[bytes.end]};
}

}  // namespace deberta
