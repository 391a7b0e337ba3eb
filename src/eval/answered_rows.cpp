#include "eval/answered_rows.h"

#include <fmt/format.h>

#include "deberta/error.h"

namespace deberta {

EvalResult score(const AnsweredRows& rows, const ScoreSettings& settings, const EvalHooks& hooks) {
  EvalResult result = rows.result;
  const Evaluation& evaluation = *rows.evaluation;
  if (!settings.needs_labels && !result.has_labels() && result.rows > 0) {
    result.metrics = evaluate(evaluation, {.samples = 0});
    return result;
  }
  if (evaluation.units() == 0)
    throw Error(ErrorCode::kInput, "eval",
                fmt::format("expected rows with a label and an answer, got none of {} ({} failed, {} without a label)",
                            result.rows, result.failed, result.unlabelled));
  result.samples = settings.samples;
  tell_progress(hooks, 0, 0, std::nullopt);
  const auto each = [&](size_t done) {
    check_stopped(hooks);
    tell_progress(hooks, done, 0, static_cast<double>(done) / static_cast<double>(settings.samples));
  };
  result.metrics = evaluate(evaluation, {.samples = settings.samples, .seed = settings.seed, .each = each});
  return result;
}

}  // namespace deberta
