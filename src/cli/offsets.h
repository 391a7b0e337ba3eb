// Offsets in the unit that --offsets names.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"

namespace deberta::cli {

// For one text: "chars" (code points), "bytes" or "utf16" (units of UTF-16, as JavaScript counts).
class OffsetUnits {
 public:
  OffsetUnits(const std::string& unit, std::string_view text);
  // The same span in code points and in bytes, in the unit.
  Offset convert(Offset chars, Offset bytes) const;

 private:
  enum class Unit { kChars, kBytes, kUtf16 };
  Unit unit_;
  std::vector<uint32_t> units_before_byte_;  // utf16 only
};

}  // namespace deberta::cli
