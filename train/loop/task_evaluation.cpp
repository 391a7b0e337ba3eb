#include "train/loop/task_evaluation.h"

#include "eval/examples.h"
#include "eval/questions.h"
#include "train/loop/evaluation.h"
#include "train/loop/model_files.h"

namespace deberta::train {
namespace {

AnsweredRows answer(const FinetuneSettings& settings, const OpenModel& open_model, const EvalHooks& hooks) {
  const TaskRow& task = *settings.task;
  if (task.kind == TaskKind::kQuestion) {
    QuestionSettings questions{.files = settings.evaluation.files, .part = settings.evaluation.part};
    questions.question.rules = settings.evaluation_rules;
    return answer_questions(task, questions, open_model, hooks);
  }
  if (task.kind == TaskKind::kTokens) return answer_tags(task, tag_settings(settings), open_model, hooks);
  return answer_examples(task, {.input = settings.evaluation, .rules = settings.evaluation_rules}, open_model, hooks);
}

}  // namespace

TagSettings tag_settings(const FinetuneSettings& settings) {
  TagSettings tags{
      .files = settings.evaluation.files, .part = settings.evaluation.part, .rules = settings.evaluation_rules};
  tags.merges_sentences = settings.training.merges_sentences;
  return tags;
}

Metrics evaluate_task(Model& model, const FinetuneSettings& settings, const Workplace& place, const RunHooks& hooks) {
  if (settings.evaluation.files.empty()) return {};
  const Pipeline pipeline = to_pipeline(model, settings.model_folder, place);
  return score_in_training(hooks, [&](const EvalHooks& eval_hooks) {
    return answer(
        settings, [&]() -> const Pipeline& { return pipeline; }, eval_hooks);
  });
}

}  // namespace deberta::train
