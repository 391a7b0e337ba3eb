// Adapts the hooks of a run to those of src/eval, and names the metrics eval_*.
#include "train/run/evaluation.h"

#include <cmath>
#include <string>

#include "base/log.h"

namespace deberta::train {

EvalHooks to_eval_hooks(const RunHooks& hooks) {
  return {.on_progress =
              [&](size_t rows, size_t tokens, std::optional<double> fraction) {
                hooks.on_progress({Phase::kEvaluating, rows, tokens, fraction});
              },
          .is_stopped = [&] { return hooks.stop() == StopRequest::kStop; }};
}

void note_bad_row(const Error& error, const RunHooks& hooks) {
  hooks.on_note(std::string("left out: ") + error.what());
}

Metrics score_in_training(const RunHooks& hooks, const AnswerRows& answer) {
  const EvalHooks eval_hooks = to_eval_hooks(hooks);
  Metrics metrics;
  try {
    const EvalResult scored = score(answer(eval_hooks), {.samples = 0}, eval_hooks);
    const CutRows& cut = scored.cut;
    if (cut.rows > 0)
      warn("evaluation: " + std::to_string(cut.rows) + " of " + std::to_string(cut.of) + " rows cut to " +
           std::to_string(cut.max_tokens) + " tokens");
    for (const Metric& metric : scored.metrics) metrics.emplace_back("eval_" + metric.name, metric.value.value_or(NAN));
  } catch (const EvalStopped&) {
    return {};
  }
  return metrics;
}

}  // namespace deberta::train
