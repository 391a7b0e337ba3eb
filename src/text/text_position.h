// From bytes of a text to its code points and words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deberta {

// Counts code points and words on the way through a text; positions must not decrease.
class TextPosition {
 public:
  explicit TextPosition(std::string_view text) : text_(text) {}

  void go_to(size_t byte);
  uint32_t code_points() const { return code_points_; }
  // The word at this position, as str.split of Python parts them; white space belongs to the word before it.
  int32_t word() const;

 private:
  bool is_space_at(size_t at, uint32_t& size_bytes) const;

  std::string_view text_;
  size_t at_ = 0;
  uint32_t code_points_ = 0;
  int32_t words_ = 0;
  bool is_after_space_ = true;
};

// Code points of text[begin, end).
uint32_t count_points(std::string_view text, size_t begin, size_t end);

}  // namespace deberta
