// Chooses the evaluation of src/eval by the kind of task, and runs it on a pipeline of the weights in memory.
#include "train/finetune/task_evaluation.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/examples.h"
#include "deberta/error.h"
#include "decode/classification.h"
#include "eval/entities.h"
#include "eval/eval_hooks.h"
#include "eval/examples.h"
#include "eval/questions.h"
#include "metrics/asked_metrics.h"
#include "metrics/task_inputs.h"
#include "pipeline/encodings.h"
#include "train/data/data_notes.h"
#include "train/data/extraction_samples.h"
#include "train/run/evaluation.h"
#include "train/step/model_files.h"

namespace deberta::train {
namespace {

QuestionSettings question_settings(const TaskFiles& settings) {
  QuestionSettings questions{.files = settings.evaluation.files, .part = settings.evaluation.part};
  questions.question.rules = settings.evaluation_rules;
  return questions;
}

EntitySettings entity_settings(const TaskFiles& settings) {
  EntitySettings entities{.input = {.files = settings.evaluation.files,
                                    .format = settings.evaluation.format,
                                    .part = settings.evaluation.part,
                                    .label_names = settings.training.extraction.label_names,
                                    .needs_names = false}};
  entities.options.rules = settings.evaluation_rules;
  return entities;
}

// Whether the model's scores give a loss: not if its configuration sets another activation.
bool has_probabilities(const TaskRow& task, const Pipeline& pipeline) {
  if (task.target == TaskTarget::kScore) return true;
  const ScoreFunction function = score_function_of(pipeline.config, static_cast<size_t>(pipeline.model.labels()));
  return function == (task.target == TaskTarget::kClass ? ScoreFunction::kSoftmax : ScoreFunction::kSigmoid);
}

AnsweredRows answer(const TaskFiles& settings, const Pipeline& pipeline, const EvalHooks& hooks) {
  const auto open_model = [&]() -> const Pipeline& { return pipeline; };
  const TaskRow& task = *settings.task;
  if (task.kind == TaskKind::kQuestion) return answer_questions(task, question_settings(settings), open_model, hooks);
  if (task.kind == TaskKind::kTokens) return answer_tags(task, tag_settings(settings), open_model, hooks);
  if (task.kind == TaskKind::kExtraction) return answer_entities(task, entity_settings(settings), open_model, hooks);
  ExampleSettings examples{.input = settings.evaluation, .rules = settings.evaluation_rules};
  if (!asked_metrics_of(task).empty() && has_probabilities(task, pipeline))
    examples.asked.names = metrics_with_loss(task);
  return answer_examples(task, examples, open_model, hooks);
}

void note_trained(const NotedRows& trained, size_t all, const RunHooks& hooks) {
  if (trained.count > 0)
    hooks.on_note("examples of the validation file whose texts are trained on as well: " +
                  std::to_string(trained.count) + " of " + std::to_string(all) + trained.places());
}

// Labels that leave no room for a text would fail at the first evaluation: those of all rows, or of one.
void check_labels(const TaskFiles& settings, const Tokenizer& tokenizer, const TaskSamples& samples,
                  const std::vector<std::string>& names) {
  std::vector<EntityLabel> labels;
  for (const std::string& name : names) labels.push_back(entity_label(name));
  make_label_prompt(tokenizer, marks_of(samples.pool), labels, entity_settings(settings).options);
}

void check_entities(const TaskFiles& settings, const Tokenizer& tokenizer, const TaskSamples& samples,
                    const EvalHooks& eval_hooks, const RunHooks& hooks) {
  const EntityRows rows = check_entity_files(entity_settings(settings).input, eval_hooks);
  const auto has_all = [](const EntityRow& row) { return !row.error && !row.labels; };
  if (std::ranges::any_of(rows.rows, has_all)) check_labels(settings, tokenizer, samples, rows.labels());
  NotedRows trained;
  for (const EntityRow& row : rows.rows) {
    if (row.error) {
      report_bad_row(eval_hooks, *row.error);
      continue;
    }
    if (samples.texts.contains(std::hash<std::string>()(row.text))) trained.add(row.where);
    try {
      if (row.labels) check_labels(settings, tokenizer, samples, labels_of(row, {}));
    } catch (const Error& error) {
      report_bad_row(eval_hooks, error_of_row(error, row.where));
    }
  }
  if (!settings.evaluation.part) note_trained(trained, rows.rows.size(), hooks);
}

void check_example_files(const TaskFiles& settings, const Tokenizer& tokenizer, const TaskSamples& samples,
                         const EvalHooks& eval_hooks, const RunHooks& hooks) {
  size_t all = 0;
  NotedRows trained;
  const auto count = [&](const Example& example) {
    ++all;
    if (const auto error = error_of_windows(settings, tokenizer, example)) report_bad_row(eval_hooks, *error);
    if (!example.error && samples.texts.contains(hash_of_texts(*settings.task, example))) trained.add(example.where);
  };
  try {
    check_examples(*settings.task, settings.evaluation, samples.labels, eval_hooks, count);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kTask || !settings.task->labels.empty()) throw;
    std::vector<Problem> problems = error.problems();  // labels must be those of the training files
    problems.back().argument.clear();
    problems.back().remedies = {{"leave such rows out, or train on some of them"}};
    throw Error(ErrorCode::kTask, std::move(problems));
  }
  if (!settings.evaluation.part) note_trained(trained, all, hooks);  // a part's are reported with the samples
}

}  // namespace

std::optional<Error> error_of_windows(const TaskFiles& settings, const Tokenizer& tokenizer, const Example& example) {
  if (settings.evaluation_rules.long_text != LongText::kWindow || example.error) return std::nullopt;
  const TaskInput input = input_of(*settings.task, example);
  TextInput text{.text = input.text};
  if (input.pair) text.pair = *input.pair;
  try {
    window_inputs(tokenizer, {&text, 1}, settings.evaluation_rules);
  } catch (const Error& error) {
    return error_of_row(error, example.where);
  }
  return std::nullopt;
}

EvalHooks without_bad_rows(const TaskFiles& settings, EvalHooks hooks) {
  if (settings.bad_rows != BadRows::kFail) hooks.bad_rows = BadRows::kSkip;
  return hooks;
}

TagSettings tag_settings(const TaskFiles& settings) {
  TagSettings tags{
      .files = settings.evaluation.files, .part = settings.evaluation.part, .rules = settings.evaluation_rules};
  tags.merges_sentences = settings.training.merges_sentences;
  return tags;
}

bool check_evaluation(const TaskFiles& settings, const RunTokenizer& tokenizer, const TaskSamples& samples,
                      const RunHooks& hooks) {
  if (settings.evaluation.files.empty()) return true;
  EvalHooks eval_hooks = to_eval_hooks(hooks);
  eval_hooks.bad_rows = settings.bad_rows;
  eval_hooks.on_bad_row = [&](const Error& error) { note_bad_row(error, hooks); };
  const TaskRow& task = *settings.task;
  try {
    if (task.kind == TaskKind::kQuestion)
      check_question_files(task, question_settings(settings), eval_hooks);
    else if (task.kind == TaskKind::kTokens)
      check_tagged_files(tag_settings(settings), samples.labels, eval_hooks);
    else if (task.kind == TaskKind::kExtraction)
      check_entities(settings, tokenizer.load(), samples, eval_hooks, hooks);
    else
      check_example_files(settings, tokenizer.load(), samples, eval_hooks, hooks);
  } catch (const EvalStopped&) {
    return false;
  }
  return true;
}

Metrics evaluate_task(Model& model, const TaskFiles& settings, const RunTokenizer& tokenizer,
                      const Workplace& workplace, const RunHooks& hooks) {
  if (settings.evaluation.files.empty()) return {};
  const Pipeline pipeline = to_pipeline(model, tokenizer, workplace);
  return score_in_training(hooks, [&](const EvalHooks& eval_hooks) {
    return answer(settings, pipeline, without_bad_rows(settings, eval_hooks));
  });
}

}  // namespace deberta::train
