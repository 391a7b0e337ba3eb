// Positions in a text that a data file counts in code points, as Python does, converted to bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace deberta {

// A part of a text, its end excluded.
struct TextSpan {
  size_t begin_char = 0;
  size_t end_char = 0;
  size_t begin_byte = 0;
  size_t end_byte = 0;
};

// Where each code point of a valid text below 4 GiB starts.
class CodePointTable {
 public:
  CodePointTable() : starts_{0} {}
  explicit CodePointTable(std::string_view text);

  size_t size() const { return starts_.size() - 1; }                          // code points
  size_t byte_of(size_t code_point) const { return starts_.at(code_point); }  // byte where it begins; size(): the end
  // Requires begin <= end <= size().
  TextSpan span(size_t begin_char, size_t end_char) const {
    return {begin_char, end_char, byte_of(begin_char), byte_of(end_char)};
  }
  // Both are bytes where a code point begins or the text ends.
  TextSpan span_of_bytes(size_t begin_byte, size_t end_byte) const;

 private:
  std::vector<uint32_t> starts_;  // and the end of the text
};

}  // namespace deberta
