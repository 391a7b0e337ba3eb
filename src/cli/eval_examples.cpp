// Rows with a class, a score, a choice or an entity.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/eval_model.h"
#include "cli/eval_run.h"
#include "cli/example_files.h"
#include "data/predictions.h"
#include "metrics/task_rows.h"
#include "options/options.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/model_options.h"

namespace deberta::cli {
namespace {

using TaskAnswers = std::vector<std::optional<TaskAnswer>>;

void read_rows(const Options& options, TaskRows& rows) {
  ProgressPrinter progress(options, true, {.items = "rows", .tokens = ""});
  ExampleFiles files(options, rows.task(), [] { return interrupted() != 0; });
  for (Example example; files.next(example);) {
    rows.add(example);
    progress.update(rows.golds().size(), 0, files.fraction_done());
  }
  check_interrupted();
  rows.check_labels();
}

// The predictions of a file, by row. Tasks whose answers are texts count a missing one as wrong; of others it is an
// error.
TaskAnswers read_answers(const Options& options, TaskRows& rows) {
  Predictions predictions = open_predictions(options);
  TaskAnswers answers(rows.golds().size());
  size_t missing = 0, first_missing = 0;
  for (size_t row = 0; row < answers.size(); ++row) {
    const TaskGold& gold = rows.golds()[row];
    const FoundPrediction* found = predictions.find(row, gold.id);
    if (gold.error) continue;
    if (found != nullptr)
      answers[row] = rows.parse(row, found->text, found->where);
    else if (missing++ == 0)
      first_missing = row;
  }
  if (missing > 0 && rows.task().target != TaskTarget::kText)
    throw Error(ErrorCode::kInput, predictions.name(),
                fmt::format("expected a prediction for each of {} rows, got none for {}; the first is row {} ({})",
                            answers.size(), missing, first_missing, rows.golds()[first_missing].where));
  if (predictions.unused() > 0)
    note(options, fmt::format("note: {} of {} predictions match no row", predictions.unused(), predictions.size()));
  return answers;
}

// The task's, or where it has none the model's.
TaskLabels labels_of(const Options& options, const TaskRow& task, const std::optional<Pipeline>& pipeline) {
  const bool has_classes = task.target == TaskTarget::kClass || task.target == TaskTarget::kClasses;
  const bool is_choice = task.kind == TaskKind::kChoice;
  if (!pipeline || !has_classes || is_choice || !task.labels.empty()) return TaskLabels(task);
  return TaskLabels(class_names(*pipeline, options));
}

EvalResult count(const Options& options, const TaskRows& rows, const TaskAnswers& answers) {
  EvalResult result;
  result.task = &rows.task();
  result.rows = rows.golds().size();
  result.repaired = rows.repaired();
  for (size_t row = 0; row < answers.size(); ++row) {
    const TaskGold& gold = rows.golds()[row];
    if (gold.error) {
      ++result.failed;
      report_bad_row(options, *gold.error);
    } else {
      result.unlabelled += !gold.is_labelled;
      result.unanswered += !answers[row];
    }
  }
  return result;
}

void write_predictions(const std::string& path, const TaskRows& rows, const TaskAnswers& answers) {
  write_output(path, [&](FileWriter& out) {
    out.write("index\tprediction\n");
    for (size_t row = 0; row < answers.size(); ++row) {
      if (answers[row]) out.write(fmt::format("{}\t{}\n", row, rows.to_text(*answers[row])));
    }
  });
}

}  // namespace

int eval_examples(const Options& options, const TaskRow& task) {
  std::optional<Pipeline> pipeline;
  if (options.text("predictions").empty()) pipeline.emplace(open_model(options));
  TaskRows rows(task, labels_of(options, task, pipeline));
  TaskAnswers answers;
  if (pipeline) {
    answers = answer_examples(options, *pipeline, rows);
    print_check_report(pipeline->model);
  } else {
    read_rows(options, rows);
    answers = read_answers(options, rows);
  }
  EvalResult result = count(options, rows, answers);
  if (!options.text("write-predictions").empty()) write_predictions(options.text("write-predictions"), rows, answers);
  result.metrics = evaluate_all(options, *rows.evaluate(answers), result);
  return finish(options, result);
}

}  // namespace deberta::cli
