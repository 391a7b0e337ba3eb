// The one exception type of the project and the table of its codes.
#pragma once
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Marks the symbols that libdeberta.so exports; all others are hidden.
#define DEBERTA_API __attribute__((visibility("default")))

namespace deberta {

enum class ErrorCode {
#define DEBERTA_ERROR(code, name, exit_code, meaning, remedy) code,
#include "deberta/error_codes.inc"
#undef DEBERTA_ERROR
};

struct ErrorCodeInfo {
  ErrorCode code;
  std::string_view name;  // stable, printed by --json and docs/errors.md
  int exit_code;          // 1 failure, 2 usage
  std::string_view meaning;
  std::string_view remedy;
};

// All codes, in the order of the enumeration.
DEBERTA_API std::span<const ErrorCodeInfo> error_code_table();
DEBERTA_API const ErrorCodeInfo& error_code_info(ErrorCode code);

// One problem. Printed as `where: what: expected x, got y; remedy` (lower case, no final period).
struct Problem {
  std::string where;    // file, key, row, option
  std::string message;  // the rest of the line
};

// Carries one problem, or all problems of one configuration or checkpoint. what() has one line for each.
class DEBERTA_API Error : public std::exception {
 public:
  Error(ErrorCode code, std::string where, std::string message);
  // Requires at least one problem.
  Error(ErrorCode code, std::vector<Problem> problems);

  ErrorCode code() const noexcept { return code_; }
  // Of the first problem.
  const std::string& where() const noexcept { return problems_.front().where; }
  const std::string& message() const noexcept { return problems_.front().message; }
  const std::vector<Problem>& problems() const noexcept { return problems_; }
  int exit_code() const noexcept;
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  ErrorCode code_;
  std::vector<Problem> problems_;
  std::string text_;
};

}  // namespace deberta
