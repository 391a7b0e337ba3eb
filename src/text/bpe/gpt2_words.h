// The words that byte-level BPE sees, as GPT-2's pattern cuts them, written by hand:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// No byte is left out: the words of a text, one after the other, are the text.
#pragma once
#include <cstddef>
#include <string_view>

namespace deberta {

// One past the word that begins at `begin` (< text.size()); the end of `text` counts as the end of all text.
size_t end_of_gpt2_word(std::string_view text, size_t begin);

}  // namespace deberta
