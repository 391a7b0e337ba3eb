// Where grapheme clusters end (Unicode 16.0.0, UAX 29, extended clusters): what a reader takes for one character.
// Needed because the tokenizers library applies the rules of a charsmap cluster by cluster (json_normalizer.cpp).
#pragma once
#include <cstddef>
#include <string_view>

namespace deberta {

// One past the cluster that begins at `begin` (< text.size()); `text` is valid UTF-8.
size_t end_of_grapheme(std::string_view text, size_t begin);

}  // namespace deberta
