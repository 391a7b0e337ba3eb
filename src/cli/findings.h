// What `check` found, and whether a corrected copy can be written without asking the user.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "deberta/error.h"
#include "program/answers.h"

namespace deberta::cli {

enum class Severity { kWarning, kError };
enum class Fix { kNo, kYes };  // whether `check -o` repairs it

class Findings {
 public:
  void add(Severity severity, Fix fix, const Problem& problem);
  void error(std::string where, std::string message, Fix fix = Fix::kNo) {
    add(Severity::kError, fix, {std::move(where), std::move(message)});
  }
  void warning(std::string where, std::string message, Fix fix = Fix::kNo) {
    add(Severity::kWarning, fix, {std::move(where), std::move(message)});
  }
  // Runs a part of the check; what it throws is recorded as errors.
  void run(const std::function<void()>& part);

  size_t errors() const { return errors_; }
  size_t warnings() const { return warnings_; }
  // Those that `check -o` does not repair.
  size_t lasting_errors() const { return lasting_errors_; }
  size_t lasting_warnings() const { return lasting_warnings_; }
  const std::vector<program::Answer>& answers() const { return answers_; }

 private:
  std::vector<program::Answer> answers_;
  size_t errors_ = 0, warnings_ = 0, lasting_errors_ = 0, lasting_warnings_ = 0;
};

}  // namespace deberta::cli
