// One pass. A word takes all characters of \w that it can, so what may follow within it is a hyphen alone: an
// underscore is one of them.
#include "text/words.h"

#include <cstdint>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

// \w of Python's re: str.isalnum, or an underscore.
bool is_word_point(char32_t point) {
  if (point < 0x80)
    return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') || (point >= '0' && point <= '9') ||
           point == '_';
  return is_letter(point) || is_number(point);
}

// A place in a text, in bytes and code points.
struct TextPlace {
  uint32_t byte = 0, code_point = 0;
};

class WordSplitter {
 public:
  explicit WordSplitter(std::string_view text) : text_(text) {}

  // Whether another word follows; `word` is then that one.
  bool next(WordSpan& word) {
    while (!is_at_end() && is_white_space(point())) pass();
    if (is_at_end()) return false;
    const TextPlace begin = place_;
    if (is_word_point(point())) {
      pass_word();
    } else {
      pass();
    }
    word = {{begin.code_point, place_.code_point}, {begin.byte, place_.byte}};
    return true;
  }

 private:
  bool is_at_end() const { return place_.byte >= text_.size(); }
  char32_t point() const { return decode_utf8(text_, place_.byte).value; }
  void pass() {
    place_.byte += decode_utf8(text_, place_.byte).size_bytes;
    ++place_.code_point;
  }
  void pass_points() {
    while (!is_at_end() && is_word_point(point())) pass();
  }
  // A hyphen belongs to the word if a character of \w follows it.
  void pass_word() {
    pass_points();
    while (!is_at_end() && point() == '-') {
      const TextPlace hyphen = place_;
      pass();
      if (is_at_end() || !is_word_point(point())) {
        place_ = hyphen;
        return;
      }
      pass_points();
    }
  }

  std::string_view text_;
  TextPlace place_;
};

}  // namespace

std::vector<WordSpan> word_spans(std::string_view text, size_t most) {
  std::vector<WordSpan> words;
  WordSplitter splitter(text);
  for (WordSpan word; words.size() < most && splitter.next(word);) words.push_back(word);
  return words;
}

}  // namespace deberta
