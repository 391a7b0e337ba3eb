// Error codes, exception text and nearest-match suggestions.
#include "base/error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace deberta {
namespace {

constexpr std::array kTable = {
#define DEBERTA_ERROR(code, name, exit_code, meaning, remedy) \
  ErrorCodeInfo{ErrorCode::code, name, exit_code, meaning, remedy},
#include "base/error_codes.inc"
#undef DEBERTA_ERROR
};

std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& p : problems) {
    if (!text.empty()) text += '\n';
    text += p.where.empty() ? p.message : p.where + ": " + p.message;
  }
  return text;
}

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

}  // namespace

std::span<const ErrorCodeInfo> error_code_table() {
  return kTable;
}

const ErrorCodeInfo& error_code_info(ErrorCode code) {
  return kTable.at(static_cast<size_t>(code));
}

Error::Error(ErrorCode code, std::string where, std::string message)
    : Error(code, std::vector<Problem>{{std::move(where), std::move(message)}}) {}

Error::Error(ErrorCode code, std::vector<Problem> problems)
    : code_(code), problems_(std::move(problems)), text_(join(problems_)) {}

int Error::exit_code() const noexcept {
  return kTable[static_cast<size_t>(code_)].exit_code;
}

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

}  // namespace deberta
