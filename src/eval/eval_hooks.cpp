// Every hook may be absent: a missing one reports nothing and never stops an evaluation.
#include "eval/eval_hooks.h"

#include <utility>
#include <vector>

namespace deberta {

void stop_at_bad_row(const EvalHooks& hooks, const Error& error) {
  if (hooks.bad_rows != BadRows::kFail) return;
  std::vector<Problem> problems = error.problems();
  problems.back().remedies.push_back({"{} counts the other rows", "on_bad_row", "report"});
  throw Error(error.code(), std::move(problems));
}

void report_bad_row(const EvalHooks& hooks, const Error& error) {
  stop_at_bad_row(hooks, error);
  if (hooks.bad_rows == BadRows::kReport && hooks.on_bad_row) hooks.on_bad_row(error);
}

void tell_progress(const EvalHooks& hooks, size_t done, size_t tokens, std::optional<double> fraction) {
  if (hooks.on_progress) hooks.on_progress(done, tokens, fraction);
}

void check_stopped(const EvalHooks& hooks) {
  if (hooks.is_stopped()) throw EvalStopped{};
}

}  // namespace deberta
