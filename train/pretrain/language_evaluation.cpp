// Builds a pipeline from the weights in memory, and scores held-out lines with src/eval.
#include "train/pretrain/language_evaluation.h"

#include <cmath>

#include "deberta/error.h"
#include "eval/language_model.h"
#include "metrics/task_table.h"
#include "train/run/evaluation.h"
#include "train/step/model_files.h"

namespace deberta::train {
namespace {

LanguageModelSettings settings_of(const PretrainSettings& settings, const Corpora& corpora, EvaluationPart part) {
  LanguageModelSettings result{
      .input = {},
      .held_out = HeldOutLines{.corpora = corpora.held_out,
                               .every = settings.corpus.holds_out_every,
                               .most_lines = part == EvaluationPart::kSome ? settings.eval_lines : 0}};
  result.sample.rules.encode.truncate = Truncate::kRight;
  if (settings.objective == Objective::kCausal) result.sample.rules.long_text = LongText::kWindow;
  return result;
}

}  // namespace

Metrics evaluate_language_model(Model& model, const PretrainSettings& settings, const Corpora& corpora,
                                EvaluationPart part, const Workplace& place, const RunHooks& hooks) {
  if (settings.corpus.holds_out_every == 0) return {};
  const Pipeline pipeline = to_pipeline(model, settings.tokenizer(), place);
  const TaskRow& task = find_task(settings.objective == Objective::kCausal ? "causal" : "mlm");
  try {
    return score_in_training(hooks, [&](const EvalHooks& eval_hooks) {
      return answer_language_model(
          task, settings_of(settings, corpora, part), [&]() -> const Pipeline& { return pipeline; }, eval_hooks);
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInput) throw;
    hooks.on_note(std::string("not evaluated: no document is held out: ") + error.what());
    return {};
  }
}

}  // namespace deberta::train
