// The word that was probably meant, for `did you mean` in messages.
#pragma once
#include <span>
#include <string_view>

namespace deberta {

// The candidate nearest to `word` by edit distance, or empty if none is near enough to suggest.
std::string_view nearest_match(std::string_view word, std::span<const std::string_view> candidates);
// The only candidate of which it is a whole part, as epochs of num-train-epochs; empty if there is none.
std::string_view longer_match(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace deberta
