// The one exception type of the project and the table of its codes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Marks the symbols that the shared libraries export; all others are hidden.
#define DEBERTA_API __attribute__((visibility("default")))

namespace deberta {

enum class ErrorCode {
#define DEBERTA_ERROR(code, name, exit_code, meaning, remedy) code,
#include "deberta/error_codes.inc"
#undef DEBERTA_ERROR
};

struct ErrorCodeInfo {
  ErrorCode code;
  std::string_view name;  // stable, printed by --json and docs/reference/errors.md
  int exit_code;          // 1 failure, 2 usage
  std::string_view meaning;
  std::string_view remedy;
};

// All codes, in the order of the enumeration.
DEBERTA_API std::span<const ErrorCodeInfo> error_code_table();
DEBERTA_API const ErrorCodeInfo& error_code_info(ErrorCode code);

// What may help, in a few words. Where there is an argument, the last {} of the text stands for it, with its value if
// it has one: "raise {}". A text without {} is whole; a program that knows the argument may add how it is done there.
// One that begins with {} is a sentence of its own, no choice among the others: "{} shows its pieces".
struct Remedy {
  std::string text;
  std::string argument = {};  // "max_tokens"; a function with (): "classify()"
  std::string value = {};     // "right"
};

// One thing that is wrong. Printed as `where: what: expected x, got y; remedy` (lower case, no final period).
// Arguments have the names of this library; a program whose options have other names renames them.
struct Problem {
  std::string where = {};              // file, key, text; empty where the argument itself is the place
  std::string message = {};            // the rest of the line, except for the remedies
  std::string argument = {};           // the argument at fault: "max_tokens"
  std::optional<uint64_t> limit = {};  // the violated limit
  std::optional<size_t> input = {};    // the input at fault among those of one call, from 0
  std::string source = {};             // where that input was read (file and line), for programs that know it
  std::vector<Remedy> remedies = {};   // any of them helps
};

// Carries one problem, or all problems of one configuration or checkpoint. what() has one line for each, with the
// arguments' own names: "inputs[2]: text: expected at most 8 tokens, got 9; split it or cut it with truncate=right".
class DEBERTA_API Error : public std::exception {
 public:
  Error(ErrorCode code, std::string where, std::string message);
  // Requires at least one problem.
  Error(ErrorCode code, std::vector<Problem> problems);

  ErrorCode code() const noexcept { return code_; }
  // The first problem; its message is without the remedies.
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
