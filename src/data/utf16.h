// UTF-16 to UTF-8, piece by piece.
#pragma once
#include <string>
#include <string_view>

namespace deberta {

class Utf16Decoder {
 public:
  explicit Utf16Decoder(bool is_big_endian) : is_big_endian_(is_big_endian) {}

  // The text of what has come so far and was not returned yet. A lone surrogate, or half a unit at the end, becomes the
  // byte FF: bad UTF-8, which the readers replace and count as any other. `is_end`: nothing follows.
  std::string decode(std::string_view bytes, bool is_end);

 private:
  bool is_big_endian_;
  std::string rest_;  // less than a code point
};

}  // namespace deberta
