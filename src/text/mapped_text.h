// A text derived from another, with positions mapped back to the original.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"

namespace deberta {

struct MappedText {
  std::string text;
  std::vector<Offset> sources;  // for each byte of text the character that it was made from

  // The part of the original text that the range comes from.
  Offset source_of(Offset range, size_t original_size) const {
    const uint32_t begin =
        range.begin < sources.size() ? sources[range.begin].begin : static_cast<uint32_t>(original_size);
    return {begin, range.end > range.begin ? sources[range.end - 1].end : begin};
  }
  void add(std::string_view part, Offset source) {
    text += part;
    sources.resize(text.size(), source);
  }
};

// An unchanged text: each byte maps to its own character.
MappedText to_mapped(std::string_view text);

inline MappedText slice(const MappedText& text, size_t begin, size_t end) {
  const auto at = [&](size_t position) { return text.sources.begin() + static_cast<std::ptrdiff_t>(position); };
  return {text.text.substr(begin, end - begin), {at(begin), at(end)}};
}

}  // namespace deberta
