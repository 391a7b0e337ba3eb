// Windows over the tokens of a text that is longer than a model reads at once. Pure functions on token indices.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "deberta/tokenizer.h"

namespace deberta {

// Tokens [first, last) of a text.
struct Window {
  size_t first = 0;
  size_t last = 0;
  size_t size() const { return last - first; }
  bool operator==(const Window&) const = default;
};

// Consecutive windows of `room` tokens; each begins `overlap` tokens before the end of the previous one, and the last
// ends with the text. One window, perhaps an empty one, when the text fits. Throws kUsage unless overlap < room.
std::vector<Window> make_windows(size_t tokens, size_t room, size_t overlap);

// For each of `tokens` tokens: the window that gives it the most context, that is, where it is farthest from a cut; the
// first of several.
std::vector<size_t> choose_windows(std::span<const Window> windows, size_t tokens);

// `encoding` with only those tokens of its part [begin, begin + tokens) that are in the window, which counts from
// `begin`; what stands around the part stays.
Encoding keep_window(const Encoding& encoding, size_t begin, size_t tokens, const Window& window);

// The tokens of `text` (an encoding of one text without special tokens) in a window, between [CLS] and [SEP].
Encoding window_encoding(const Encoding& text, const Window& window, const SpecialIds& special);

// The same after a prefix: [CLS] prefix [SEP] window [SEP], types 0 and 1.
Encoding window_encoding(const Encoding& prefix, const Encoding& text, const Window& window, const SpecialIds& special);

}  // namespace deberta
