// Offsets in the unit that a user counts in.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"

namespace deberta {

enum class OffsetUnit { kChars, kBytes, kUtf16 };  // code points; bytes; UTF-16 units, as JavaScript counts

// Converts the offsets of one text.
class OffsetUnits {
 public:
  OffsetUnits(OffsetUnit unit, std::string_view text);
  // `chars` and `bytes` are the same span; returns it in the unit.
  Offset convert(Offset chars, Offset bytes) const;

 private:
  OffsetUnit unit_;
  std::vector<uint32_t> units_before_byte_;  // utf16 only
};

}  // namespace deberta
