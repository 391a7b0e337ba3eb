// Error codes and exception text.
#include "deberta/error.h"

#include <array>
#include <cstddef>
#include <utility>

namespace deberta {
namespace {

constexpr std::array kTable = {
#define DEBERTA_ERROR(code, name, exit_code, meaning, remedy) \
  ErrorCodeInfo{ErrorCode::code, name, exit_code, meaning, remedy},
#include "deberta/error_codes.inc"
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

}  // namespace deberta
