// Edit distance, and the candidate with the smallest.
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace deberta {
namespace {

constexpr size_t kLeastPart = 4;  // letters of a word that is looked for within candidates

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

bool is_separator(char c) {
  return c == '-' || c == '_';
}

// Whether `word` is one or more whole words of the candidate: epochs of num-train-epochs.
bool has_words(std::string_view candidate, std::string_view word) {
  for (size_t at = candidate.find(word); at != candidate.npos; at = candidate.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || is_separator(candidate[at - 1])) && (end == candidate.size() || is_separator(candidate[end])))
      return true;
  }
  return false;
}

}  // namespace

std::string_view nearest_match(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > 64) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string_view longer_match(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    if (word.size() < kLeastPart || candidate == found || !has_words(candidate, word)) continue;
    if (!found.empty()) return {};
    found = candidate;
  }
  return found;
}

}  // namespace deberta
