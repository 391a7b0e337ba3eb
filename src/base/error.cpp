// Error codes and exception text.
#include "deberta/error.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/problem_text.h"

namespace deberta {
namespace {

constexpr std::array kTable = {
#define DEBERTA_ERROR(code, name, exit_code, meaning, remedy) \
  ErrorCodeInfo{ErrorCode::code, name, exit_code, meaning, remedy},
#include "deberta/error_codes.inc"
#undef DEBERTA_ERROR
};

// As the library names it: "truncate=right".
std::string own_words(const Remedy& remedy) {
  if (remedy.text.find("{}") == std::string::npos) return "";
  return remedy.value.empty() ? remedy.argument : remedy.argument + "=" + remedy.value;
}

std::string line_of(const Problem& problem) {
  std::string text;
  if (problem.input && problem.source.empty()) text = "inputs[" + std::to_string(*problem.input) + "]: ";
  const std::string location = place_text(problem, own_words);
  if (!location.empty()) text += location + ": ";
  return text + message_text(problem, own_words);
}

std::string lines_of(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += line_of(problem);
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
    : Error(code, std::vector<Problem>{{.where = std::move(where), .message = std::move(message)}}) {}

Error::Error(ErrorCode code, std::vector<Problem> problems)
    : code_(code), problems_(std::move(problems)), text_(lines_of(problems_)) {}

int Error::exit_code() const noexcept {
  return kTable[static_cast<size_t>(code_)].exit_code;
}

}  // namespace deberta
