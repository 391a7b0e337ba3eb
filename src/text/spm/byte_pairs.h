// The pairs of adjacent bytes that occur in some piece. A text can be cut between two bytes that are adjacent in no
// piece before it is split, because no piece crosses the cut.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deberta {

class BytePairs {
 public:
  // At first those inside a character: an unknown one stays whole.
  BytePairs() {
    for (uint32_t first = 0; first < 256; ++first) bits_[first * 4 + 2] = ~uint64_t{0};  // 0x80 .. 0xBF follows
  }
  void add(std::string_view piece) {
    for (size_t i = 1; i < piece.size(); ++i) {
      const uint32_t pair = pair_of(piece, i);
      bits_[pair / 64] |= uint64_t{1} << pair % 64;
    }
  }
  // One past the stretch without a cut that begins at `begin` (< text.size()).
  size_t end_of_stretch(std::string_view text, size_t begin) const {
    size_t end = begin + 1;
    while (end < text.size() && has(pair_of(text, end))) ++end;
    return end;
  }

 private:
  static uint32_t pair_of(std::string_view text, size_t second) {
    return uint32_t{static_cast<uint8_t>(text[second - 1])} << 8 | static_cast<uint8_t>(text[second]);
  }
  bool has(uint32_t pair) const { return (bits_[pair / 64] >> pair % 64 & 1) != 0; }

  std::array<uint64_t, 1024> bits_{};
};

}  // namespace deberta
