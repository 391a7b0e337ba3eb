// Counting, and one answer for each finding.
#include "cli/findings.h"

#include "options/error_options.h"

namespace deberta::cli {

void Findings::add(Severity severity, Fix fix, const Problem& problem) {
  const bool is_error = severity == Severity::kError;
  ++(is_error ? errors_ : warnings_);
  if (fix == Fix::kNo) ++(is_error ? lasting_errors_ : lasting_warnings_);
  const char* name = is_error ? "error" : "warning";
  const char* answer = fix == Fix::kYes ? "yes" : "no";
  answers_.push_back(
      {{{"severity", name}, {"where", problem.where}, {"message", problem.message}, {"fix", fix == Fix::kYes}},
       {{name, problem.where, problem.message, answer}}});
}

void Findings::run(const std::function<void()>& part) {
  try {
    part();
  } catch (const Error& error) {
    const Error named = with_options(error);
    for (const Problem& problem : named.problems()) add(Severity::kError, Fix::kNo, problem);
  }
}

}  // namespace deberta::cli
