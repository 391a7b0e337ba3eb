// Chooses the reader for a task's kind, and brings labels into the order of the model's classes.
#include "train/data/task_samples.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "data/json_members.h"
#include "data/records.h"
#include "deberta/error.h"
#include "metrics/task_labels.h"
#include "train/data/extraction_samples.h"
#include "train/data/task_sources.h"

namespace deberta::train {

void NotedRows::add(const std::string& where) {
  constexpr size_t kFirst = 5;
  if (++count <= kFirst) first.push_back(where);
}

std::string NotedRows::places() const {
  std::string text;
  for (const std::string& where : first) text += (text.empty() ? " (" : ", ") + where;
  return text + (count > first.size() ? ", ...)" : ")");
}

size_t TaskSample::tokens() const {
  size_t count = 0;
  for (const TaskSequence& sequence : sequences) count += sequence.ids.size();
  return count;
}

Error error_of_row(const Error& error, const std::string& where) {
  std::vector<Problem> problems = error.problems();
  for (Problem& problem : problems) {
    problem.where = where + (problem.where.empty() ? "" : ": " + problem.where);
    problem.input.reset();
  }
  return {error.code(), std::move(problems)};
}

void SampleSource::leave_out(const Error& error, TaskSamples& samples) const {
  if (hooks.bad_rows == BadRows::kFail) {
    std::vector<Problem> problems = error.problems();
    problems.back().remedies.push_back({"{} trains on the other rows", "on_bad_row", "report"});
    throw Error(error.code(), std::move(problems));
  }
  ++samples.bad;
  if (hooks.bad_rows == BadRows::kReport && hooks.on_bad_row) hooks.on_bad_row(error);
}

TaskLoss loss_of(const TaskRow& task) {
  switch (task.kind) {
    case TaskKind::kChoice:
      return TaskLoss::kChoice;
    case TaskKind::kRanking:
      return TaskLoss::kRanking;
    case TaskKind::kEntity:
      return TaskLoss::kMention;
    case TaskKind::kQuestion:
      return TaskLoss::kSpan;
    case TaskKind::kTokens:
      return TaskLoss::kTokens;
    case TaskKind::kExtraction:
      return TaskLoss::kExtraction;
    case TaskKind::kMasked:
    case TaskKind::kNextPiece:
      throw Error(ErrorCode::kUsage, {{.message = "expected a task with labels, got " + std::string(task.name) +
                                                  ", which language models learn from plain text",
                                       .argument = "task"}});
    default:
      break;
  }
  if (task.target == TaskTarget::kScore) return TaskLoss::kScore;
  return task.target == TaskTarget::kClasses ? TaskLoss::kLabels : TaskLoss::kClass;
}

bool has_row_weights(TaskLoss loss) {
  return loss == TaskLoss::kClass || loss == TaskLoss::kScore || loss == TaskLoss::kLabels;
}

std::vector<int32_t> places_of_labels(const TaskRow& task, const std::vector<std::string>& names,
                                      const TaskSamples& samples) {
  const bool has_own = !task.labels.empty() && TaskLabels(task).size() == samples.labels.size();
  const TaskLabels own = has_own ? TaskLabels(task) : TaskLabels(samples.labels);
  std::vector<int32_t> indices(samples.labels.size(), -1);
  for (size_t c = 0; c < indices.size(); ++c) {  // the samples may have been reordered
    const std::optional<size_t> label = own.find(samples.labels[c]);
    for (size_t i = 0; i < names.size() && label; ++i) {
      if (own.find(names[i]) == label) indices[c] = static_cast<int32_t>(i);
    }
  }
  if (names.size() != indices.size() || std::ranges::find(indices, -1) != indices.end())
    throw Error(ErrorCode::kTask, std::string(task.name), "labels: expected those of the samples in another order");
  return indices;
}

void reorder_labels(const TaskRow& task, const std::vector<std::string>& names, TaskSamples& samples) {
  const std::vector<int32_t> numbers = places_of_labels(task, names, samples);
  for (TaskSample& sample : samples.samples) {
    if (sample.label >= 0) sample.label = numbers[static_cast<size_t>(sample.label)];
    for (auto& [token, label] : sample.tags) label = numbers[static_cast<size_t>(label)];
    const std::vector<float> old = sample.values;
    for (size_t i = 0; i < old.size(); ++i) sample.values[static_cast<size_t>(numbers[i])] = old[i];
  }
  samples.labels = names;
}

namespace {

// What the first row of a file has, for a message: "; the first row has text, stars".
std::string fields_of_first_row(const std::string& path) {
  try {
    RecordReader reader(LineReader(ByteSource(path)), form_of_ending(path).value_or(RowForm::kJsonl), {});
    JsonRow row;
    if (reader.next(row) && row.value.is_object()) return "; the first row has " + key_list(row.value);
  } catch (const Error&) {  // what cannot be read twice
  }
  return {};
}

}  // namespace

std::optional<TaskSamples> read_task_samples(const TaskRow& task, const TaskReading& reading,
                                             const Tokenizer& tokenizer, const ReadingHooks& hooks) {
  TaskSamples samples{
      .loss = loss_of(task), .ranking = reading.ranking, .has_weights = !reading.input.weight_field.empty()};
  const SampleSource source{task, reading, tokenizer, hooks};
  switch (samples.loss) {
    case TaskLoss::kTokens:
      read_tags(source, samples);
      break;
    case TaskLoss::kSpan:
      read_questions(source, samples);
      break;
    case TaskLoss::kExtraction:
      read_entities(source, samples);
      break;
    case TaskLoss::kClass:
    case TaskLoss::kScore:
    case TaskLoss::kLabels:
    case TaskLoss::kChoice:
    case TaskLoss::kRanking:
    case TaskLoss::kMention:
      read_examples(source, samples);
  }
  if (hooks.is_stopped()) return std::nullopt;
  if (!samples.samples.empty()) return samples;
  const std::string where = reading.input.files.empty() ? "files" : reading.input.files.front();
  if (samples.unordered > 0)
    throw Error(ErrorCode::kInput, where,
                "expected queries with documents that are not equally relevant, got none of " +
                    std::to_string(samples.unordered));
  if (samples.weightless > 0)
    throw Error(ErrorCode::kInput, where,
                "expected examples of a weight above 0, got " + std::to_string(samples.weightless) + " of weight 0");
  if (samples.unlabelled == 0) throw Error(ErrorCode::kInput, where, "expected labelled examples, got none");
  throw Error(ErrorCode::kInput, {{.where = where,
                                   .message = "expected labelled examples, got " + std::to_string(samples.unlabelled) +
                                              " without a label" + fields_of_first_row(where),
                                   .remedies = {{"name the column or key of the label with {}", "label_field"}}}});
}

}  // namespace deberta::train
