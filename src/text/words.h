// The words of a text as GLiNER's models see it, \w+(?:[-_]\w+)*|\S of Python's re: letters, numbers and underscores,
// joined by single hyphens; any other character that is no space by itself. A mark that combines with a letter is such
// a character.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"

namespace deberta {

struct WordSpan {
  Offset chars, bytes;  // in the text
  bool operator==(const WordSpan&) const = default;
};

// The first `most` words. `text` is valid UTF-8, shorter than 4 GiB.
std::vector<WordSpan> word_spans(std::string_view text, size_t most = SIZE_MAX);

}  // namespace deberta
