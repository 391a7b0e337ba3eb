// Advances by one character, counting code points, and tells where a word ends.
#include "text/text_position.h"

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace deberta {

bool TextPosition::is_space_character() const {
  return is_white_space(decode_utf8(text_, at_).value);
}

void TextPosition::pass_character() {
  const CodePoint point = decode_utf8(text_, at_);
  pass(is_white_space(point.value));
  at_ += point.size_bytes;
}

}  // namespace deberta
