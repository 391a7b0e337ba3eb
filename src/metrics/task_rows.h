// What evaluation needs from the rows of a labelled file: labels, not texts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/examples.h"
#include "metrics/asked_metrics.h"
#include "metrics/evaluation.h"
#include "metrics/task_labels.h"
#include "metrics/task_table.h"

namespace deberta {

// A gold label or a prediction. The task's target decides which part counts.
struct TaskAnswer {
  size_t label = 0;               // kClass: index of the label or of the choice
  double finding = 0;             // kClass of a guard: the highest score of a finding
  std::vector<double> values;     // kScore: by target; kClass: shares by label, if the row has them
  std::vector<uint32_t> labels;   // kClasses, ascending
  std::string text;               // kText
  std::vector<double> documents;  // kOrder: relevance or score of each
  std::vector<float> scores;      // by label, where they are asked for: as the model's answers show them
  // By label, where the log loss is: kClass: logarithms of probabilities; kClasses: logits.
  std::vector<double> logits;
};

struct TaskGold {
  std::string where;
  std::string id;
  size_t choices = 0;  // number of choices, or of documents; 0 for other tasks
  bool is_labelled = false;
  TaskAnswer answer;
  std::vector<std::string> texts;  // kText: all correct answers
  uint32_t group = 0;
  uint32_t genre = 0;
  std::optional<uint32_t> slice;
  std::optional<Error> error;  // the row cannot be read, or its label is not one of the task's
};

// For a guard, whose two errors are metrics as well (finding_evaluation.h).
struct FindingRules {
  std::vector<bool> is_finding = {};  // by label; empty: no guard
  std::vector<double> rates = {};     // false-positive rates for which thresholds are computed
};

// The rows with one value of a field.
struct RowSlice {
  std::string value;
  size_t rows = 0;
  std::vector<uint32_t> units = {};  // units of the evaluation
};

struct RowSlices {
  std::vector<RowSlice> slices = {};  // the one with the most rows first, then by value
  size_t rows = 0;                    // rows that count, of which
  size_t without = 0;                 // have no value
};

constexpr size_t kMostSlices = 100;

class TaskRows {
 public:
  // `labels`: of kScore the names of the targets, where there are several; none: those of the rows' fields.
  TaskRows(const TaskRow& task, TaskLabels labels) : task_(&task), labels_(std::move(labels)) {}

  // Adds a row, even a bad one, so that rows keep their numbers. Throws kInput for more than kMostSlices slices.
  void add(const Example& example);
  // Throws kTask, with the labels found, if a row has a label that the task (or the model, if the task has none) does
  // not: a metric over only the rows that fit would belong to a different task.
  void check_labels() const;
  bool has_unknown_labels() const { return unknown_rows_ > 0; }
  size_t repaired() const { return repaired_; }  // rows with bytes that were not UTF-8
  // Marks a row that cannot be answered.
  void refuse(size_t row, const Error& error) { golds_[row].error = error; }

  // The text of a prediction: a label's name, a number, names separated by commas, the choice counted as in the
  // published files (RACE "A", AlphaNLI "1", else from 0). Throws kInput.
  TaskAnswer parse(size_t row, std::string_view text, const std::string& where);
  std::string to_text(const TaskAnswer& answer) const;

  const TaskRow& task() const { return *task_; }
  const TaskLabels& labels() const { return labels_; }
  const std::vector<TaskGold>& golds() const { return golds_; }

  // Over the rows with a label, no error, and an answer; a question without one counts as wrong (SQuAD, ReCoRD).
  // `findings`: for kClass, where the rows count one by one. `plan`: for these labels.
  std::unique_ptr<Evaluation> evaluate(std::span<const std::optional<TaskAnswer>> answers,
                                       const FindingRules& findings = {}, const MetricPlan& plan = {}) const;
  // The slices, as units of that evaluation.
  RowSlices slices(std::span<const std::optional<TaskAnswer>> answers) const;

 private:
  void add_label(const Example& example, TaskGold& gold);
  TaskAnswer answer_of(const std::vector<NamedNumber>& values, const std::string& where);
  std::vector<double> parse_scores(std::string_view text, const std::string& where) const;
  size_t targets() const { return labels_.size() == 0 ? 1 : labels_.size(); }  // kScore
  TaskAnswer parse_label(std::string_view raw_text, const std::string& where);
  using Answers = std::span<const std::optional<TaskAnswer>>;
  void add_slice(const std::string& value, TaskGold& gold);
  std::vector<size_t> counted_rows(Answers answers) const;
  // The unit of each of those rows.
  std::vector<uint32_t> units_of(std::span<const size_t> rows) const;
  double loss_of(size_t row, const TaskAnswer& answer) const;
  std::unique_ptr<Evaluation> evaluate_scores(Answers answers, std::vector<std::string> metrics) const;
  std::unique_ptr<Evaluation> evaluate_classes(Answers answers, const MetricPlan& plan,
                                               std::vector<std::string> metrics) const;
  std::unique_ptr<Evaluation> evaluate_others(Answers answers, const MetricPlan& plan,
                                              std::vector<std::string> metrics) const;
  std::unique_ptr<Evaluation> evaluate_orders(Answers answers, std::vector<std::string> metrics) const;
  std::unique_ptr<Evaluation> evaluate_findings(Answers answers, const FindingRules& findings,
                                                std::unique_ptr<Evaluation> classes) const;
  std::unique_ptr<Evaluation> evaluate_thresholds(Answers answers, const MetricPlan& plan,
                                                  std::unique_ptr<Evaluation> classes) const;

  const TaskRow* task_;
  TaskLabels labels_;
  std::vector<TaskGold> golds_;
  std::map<std::string, size_t> found_labels_;  // as the file writes them, each with its number of rows
  size_t unknown_rows_ = 0, first_unknown_ = 0;
  size_t repaired_ = 0;
  std::unordered_map<std::string, uint32_t> groups_, genres_, slices_;
};

}  // namespace deberta
