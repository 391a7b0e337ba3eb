// A hand-written matcher of GPT-2's regular expression, with a table of classes for ASCII.
#include "text/bpe/gpt2_words.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

enum class Class : uint8_t { kSpace, kLetter, kNumber, kOther };

constexpr Class ascii_class_of(char32_t point) {
  const char32_t lower = point | 0x20;
  if (lower >= U'a' && lower <= U'z') return Class::kLetter;
  if (point >= U'0' && point <= U'9') return Class::kNumber;
  // The four separators of ASCII are white space to Python's strings (is_white_space) but not to its patterns.
  return point == U' ' || (point >= 0x09 && point <= 0x0D) ? Class::kSpace : Class::kOther;
}

constexpr auto kAsciiClasses = [] {
  std::array<Class, 128> classes{};
  for (char32_t point = 0; point < 128; ++point) classes[point] = ascii_class_of(point);
  return classes;
}();

Class class_of(char32_t point) {
  if (point < 0x80) return kAsciiClasses[point];
  if (is_letter(point)) return Class::kLetter;
  if (is_number(point)) return Class::kNumber;
  return is_white_space(point) ? Class::kSpace : Class::kOther;
}

// Bytes of 's, 't, 're, 've, 'm, 'll, 'd at the start of `text`, or 0.
size_t contraction_size(std::string_view text) {
  for (const std::string_view tail : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(tail)) return tail.size();
  }
  return 0;
}

struct Run {
  size_t last = 0;  // where its last code point begins
  size_t end = 0;
};

Run run_of(Class wanted, std::string_view text, size_t begin) {
  Run run{begin, begin};
  while (run.end < text.size()) {
    const auto lead = static_cast<uint8_t>(text[run.end]);
    if (lead < 0x80) {
      if (kAsciiClasses[lead] != wanted) break;
      run.last = run.end++;
      continue;
    }
    const CodePoint point = decode_utf8(text, run.end);
    if (class_of(point.value) != wanted) break;
    run.last = run.end;
    run.end += point.size_bytes;
  }
  return run;
}

}  // namespace

size_t end_of_gpt2_word(std::string_view text, size_t begin) {
  if (text[begin] == '\'') {
    if (const size_t size = contraction_size(text.substr(begin)); size > 0) return begin + size;
  }
  const size_t after_space = begin + (text[begin] == ' ' ? 1 : 0);
  if (after_space < text.size()) {
    const Class kind = class_of(decode_utf8(text, after_space).value);
    if (kind != Class::kSpace) return run_of(kind, text, after_space).end;
  }
  // White space: the last of several belongs to the word that follows.
  const Run spaces = run_of(Class::kSpace, text, begin);
  return spaces.end < text.size() && spaces.last > begin ? spaces.last : spaces.end;
}

}  // namespace deberta
