// Builds a pipeline from the weights in memory, and scores held-out lines with src/eval.
#include "train/pretrain/language_evaluation.h"

#include <string>

#include "deberta/error.h"
#include "eval/language_model.h"
#include "metrics/task_table.h"
#include "train/run/evaluation.h"
#include "train/step/model_files.h"

namespace deberta::train {
namespace {

LanguageModelSettings settings_of(const HeldOutLines& lines, bool is_causal) {
  LanguageModelSettings settings{.input = {}, .held_out = lines};
  settings.sample.rules.encode.truncate = Truncate::kRight;
  if (is_causal) settings.sample.rules.long_text = LongText::kWindow;
  return settings;
}

}  // namespace

HeldOutLines held_out_lines(const CorpusSettings& settings, const Corpora& corpora, EvaluationPart part) {
  return {.corpora = corpora.held_out,
          .every = settings.options.holds_out_every,
          .most_lines = part == EvaluationPart::kSome ? settings.eval_lines : 0};
}

Metrics evaluate_language_model(Model& model, const ModelStart& start, const HeldOutLines& lines,
                                const Workplace& workplace, const RunHooks& hooks) {
  if (lines.every == 0) return {};
  const Pipeline pipeline = to_pipeline(model, start.tokenizer(), workplace);
  const bool is_causal = start.objective == Objective::kCausal;
  const TaskRow& task = find_task(is_causal ? "causal" : "mlm");
  try {
    return score_in_training(hooks, [&](const EvalHooks& eval_hooks) {
      return answer_language_model(
          task, settings_of(lines, is_causal), [&]() -> const Pipeline& { return pipeline; }, eval_hooks);
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInput) throw;
    hooks.on_note(std::string("not evaluated: no document is held out: ") + error.what());
    return {};
  }
}

}  // namespace deberta::train
