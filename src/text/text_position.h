// From bytes of a text to its code points and words.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deberta {

// Counts code points and words on the way through a text; positions must not decrease.
class TextPosition {
 public:
  explicit TextPosition(std::string_view text) : text_(text) {}

  void go_to(size_t byte) {
    while (at_ < byte && at_ < text_.size()) {
      const uint8_t lead = static_cast<uint8_t>(text_[at_]);
      if (lead >= 0x80) {
        pass_character();
        continue;
      }
      pass(kIsSpace[lead]);
      ++at_;
    }
  }
  uint32_t code_points() const { return code_points_; }
  // The word at this position, as Python's str.split cuts them; white space belongs to the word before it.
  int32_t word() const {
    const bool starts_one = is_after_space_ && at_ < text_.size() && !is_space_here();
    return std::max(0, words_ + (starts_one ? 1 : 0) - 1);
  }

 private:
  // ASCII only.
  static constexpr auto kIsSpace = [] {
    std::array<bool, 128> is_space{};
    is_space[' '] = true;
    for (size_t c = 0x09; c <= 0x0D; ++c) is_space[c] = true;
    for (size_t c = 0x1C; c <= 0x1F; ++c) is_space[c] = true;
    return is_space;
  }();
  bool is_space_here() const {
    const uint8_t lead = static_cast<uint8_t>(text_[at_]);
    return lead < 0x80 ? kIsSpace[lead] : is_space_character();
  }
  bool is_space_character() const;
  void pass_character();
  void pass(bool is_space) {
    words_ += is_after_space_ && !is_space ? 1 : 0;
    is_after_space_ = is_space;
    ++code_points_;
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t code_points_ = 0;
  int32_t words_ = 0;
  bool is_after_space_ = true;
};

// Code points of text[begin, end).
inline uint32_t count_points(std::string_view text, size_t begin, size_t end) {
  uint32_t count = 0;
  for (size_t i = begin; i < end; ++i) count += (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;  // no continuing byte
  return count;
}

}  // namespace deberta
