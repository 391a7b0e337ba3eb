// Takes answers from predictions or from the pipeline's plans, matches them with labels, and picks the metrics.
#include "eval/examples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/predictions.h"
#include "deberta/error.h"
#include "eval/example_answers.h"
#include "eval/model_rows.h"
#include "metrics/task_rows.h"

namespace deberta {
namespace {

void read_rows(const ExampleInput& input, TaskRows& rows, const EvalHooks& hooks,
               const std::function<void(const Example&)>& on_example = {}) {
  tell_progress(hooks, 0, 0, std::nullopt);
  ExampleFiles files(input, rows.task(), hooks.is_stopped);
  for (Example example; files.next(example);) {
    rows.add(example);
    if (on_example) on_example(example);
    tell_progress(hooks, rows.golds().size(), 0, files.fraction_done());
  }
  check_stopped(hooks);
  rows.check_labels();
}

bool has_known_label(const TaskAnswer& answer, TaskTarget target, size_t known) {
  if (target != TaskTarget::kClasses) return answer.label < known;
  return answer.labels.empty() || answer.labels.front() < known;
}

// For a task whose labels, the first `known`, come from its file: refuses predictions that have none of them.
void check_labels(const TaskRows& rows, const TaskAnswers& answers, size_t known, const std::string& name) {
  const auto is_there = [](const auto& answer) { return answer.has_value(); };
  const auto is_known = [&](const auto& answer) {
    return answer && has_known_label(*answer, rows.task().target, known);
  };
  if (std::ranges::none_of(answers, is_there) || std::ranges::any_of(answers, is_known) || known == 0) return;
  constexpr size_t kNamed = 20;
  std::vector<std::string> names = rows.labels().names();
  const auto list = [&](size_t from, size_t to) {
    const size_t end = std::min(to, from + kNamed);
    return fmt::format(
        "{}{}",
        fmt::join(names.begin() + static_cast<ptrdiff_t>(from), names.begin() + static_cast<ptrdiff_t>(end), ", "),
        end < to ? ", ..." : "");
  };
  throw Error(ErrorCode::kInput, name,
              fmt::format("expected predictions with the labels of the rows ({}), got only others ({})", list(0, known),
                          list(known, names.size())));
}

// The predictions in a file, by row. Tasks whose answers are texts count a missing one as wrong; for others it is an
// error.
TaskAnswers read_answers(const std::string& path, TaskRows& rows, EvalResult& result) {
  Predictions predictions(ByteSource(path), Predictions::form_of(path));
  TaskAnswers answers(rows.golds().size());
  const size_t known = rows.labels().size();
  size_t missing = 0, first_missing = 0;
  for (size_t row = 0; row < answers.size(); ++row) {
    const TaskGold& gold = rows.golds()[row];
    const FoundPrediction* prediction = predictions.find(row, gold.id);
    if (gold.error) continue;
    if (prediction != nullptr)
      answers[row] = rows.parse(row, prediction->text, prediction->where);
    else if (missing++ == 0)
      first_missing = row;
  }
  if (missing > 0 && rows.task().target != TaskTarget::kText)
    throw Error(ErrorCode::kInput, predictions.name(),
                fmt::format("expected a prediction for each of {} rows, got none for {}; the first is row {} ({})",
                            answers.size(), missing, first_missing, rows.golds()[first_missing].where));
  if (rows.labels().is_open()) check_labels(rows, answers, known, predictions.name());
  result.predictions = predictions.size();
  result.unused_predictions = predictions.unused();
  return answers;
}

// Whether rows are labelled by the names of the model's classes.
bool has_labels_of_model(const TaskRow& task) {
  const bool has_classes = task.target == TaskTarget::kClass || task.target == TaskTarget::kClasses;
  return has_classes && task.kind != TaskKind::kChoice && task.labels.empty();
}

// The task's labels, or the model's if it has none; the names of several scores.
TaskLabels labels_of(const ExampleSettings& settings, const TaskRow& task, const Pipeline* pipeline) {
  const std::vector<std::string>& fields = settings.input.label_fields;
  if (task.target == TaskTarget::kScore && fields.size() > 1) return TaskLabels(fields);
  if (pipeline == nullptr || !has_labels_of_model(task)) return TaskLabels(task);
  return TaskLabels(class_names(*pipeline, settings.label_map));
}

void count(const TaskRows& rows, const TaskAnswers& answers, const EvalHooks& hooks, EvalResult& result) {
  result.task = &rows.task();
  result.rows = rows.golds().size();
  result.repaired = rows.repaired();
  for (size_t row = 0; row < answers.size(); ++row) {
    const TaskGold& gold = rows.golds()[row];
    if (gold.error) {
      ++result.failed;
      report_bad_row(hooks, *gold.error);
    } else {
      result.unlabelled += !gold.is_labelled;
      result.unanswered += !answers[row];
    }
  }
}

void write_answers(const TaskRows& rows, const TaskAnswers& answers, FileWriter& out) {
  out.write("index\tprediction\n");
  for (size_t row = 0; row < answers.size(); ++row) {
    if (answers[row]) out.write(fmt::format("{}\t{}\n", row, rows.to_text(*answers[row])));
  }
}

void check_guard(const TaskRow& task, const ExampleSettings& settings) {
  const auto refuse = [](std::string message) {
    throw Error(ErrorCode::kUsage, {{.message = std::move(message), .argument = "false_positive_rates"}});
  };
  const bool has_classes = task.kind == TaskKind::kSentence || task.kind == TaskKind::kPair;
  if (!has_classes || task.target != TaskTarget::kClass)
    refuse(fmt::format("expected a task whose rows have one class each, got {}", task.name));
  if (!settings.predictions.empty()) refuse("expected a model that answers: a file of predictions has no scores");
  for (const double rate : settings.false_positive_rates) {
    if (!(rate > 0 && rate < 1)) refuse(fmt::format("expected shares above 0 and below 1, got {}", rate));
  }
}

// What the metrics that were asked for mean.
JsonObject settings_of(const TaskRow& task, const AskedMetrics& asked, const TaskLabels& labels) {
  JsonObject settings;
  if (asked.beta) settings.emplace_back("beta", *asked.beta);
  const std::string positive = positive_label_of(task, asked);
  if (!positive.empty()) settings.emplace_back("positive-label", labels.name(*labels.find(positive)));
  if (!asked.label_order.empty())
    settings.emplace_back("label-order", fmt::format("{}", fmt::join(asked.label_order, ",")));
  return settings;
}

struct Examples {
  TaskRows rows;
  TaskAnswers answers;
};

}  // namespace

void check_examples(const TaskRow& task, const ExampleInput& input, const std::vector<std::string>& model_labels,
                    const EvalHooks& hooks, const std::function<void(const Example&)>& on_example) {
  TaskRows rows(task, has_labels_of_model(task) && !model_labels.empty() ? TaskLabels(model_labels) : TaskLabels(task));
  read_rows(input, rows, hooks, on_example);
  for (const TaskGold& gold : rows.golds()) {
    if (gold.error) report_bad_row(hooks, *gold.error);
  }
}

AnsweredRows answer_examples(const TaskRow& task, const ExampleSettings& settings, const OpenModel& open_model,
                             const EvalHooks& hooks) {
  if (!settings.false_positive_rates.empty()) check_guard(task, settings);
  check_asked(task, settings.asked, settings.predictions.empty());
  check_label_fields(task, settings.input.label_fields);
  const Pipeline* pipeline = settings.predictions.empty() ? &opened(open_model) : nullptr;
  AnsweredRows answered;
  const auto examples = std::make_shared<Examples>(Examples{TaskRows(task, labels_of(settings, task, pipeline)), {}});
  auto& [rows, answers] = *examples;
  if (!rows.labels().is_open()) plan_metrics(task, rows.labels(), settings.asked);  // refuses before rows are answered
  FindingRules findings;
  if (pipeline != nullptr) {
    answers = answer_rows(settings, *pipeline, rows, answered.result.cut, findings, hooks);
  } else {
    read_rows(settings.input, rows, hooks);
    answers = read_answers(settings.predictions, rows, answered.result);
  }
  count(rows, answers, hooks, answered.result);
  answered.result.label_fields =
      example_rules(task, settings.input.input_fields, settings.input.label_fields).fields.label.names;
  answered.evaluation = rows.evaluate(answers, findings, plan_metrics(task, rows.labels(), settings.asked));
  answered.result.settings = settings_of(task, settings.asked, rows.labels());
  answered.result.by = settings.input.by;
  if (!settings.input.by.empty()) answered.slices = rows.slices(answers);
  answered.write_predictions = [examples](FileWriter& out) { write_answers(examples->rows, examples->answers, out); };
  return answered;
}

}  // namespace deberta
