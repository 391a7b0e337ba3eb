// Tasks whose answers are a class, a score, a choice, an entity or an order of documents.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "eval/example_files.h"
#include "metrics/asked_metrics.h"
#include "metrics/task_table.h"

namespace deberta {

struct ExampleSettings {
  ExampleInput input;
  std::string predictions = {};                      // a file; empty: a model answers
  EncodingRules rules = {};                          // the model's
  std::vector<std::string> label_map = {};           // the task's labels in the model's order, instead of its labels
  WindowScores window_scores = WindowScores::kMean;  // not kEach
  // A guard's classes that are no finding, as SequenceOptions has them.
  std::vector<std::string> benign_labels = {};
  // For a guard: shares of benign rows that may be reported; a threshold is computed for each
  // (metrics/finding_evaluation.h).
  std::vector<double> false_positive_rates = {};
  AskedMetrics asked = {};
};

// The model is opened first. Throws kTask for a head that does not fit the task, and for labels of the files or the
// model that are not the task's, before any row is answered; kInput for rows without a prediction, unless the task's
// answers are texts; kUsage for rates of a task whose rows do not have one class each, and for those with predictions,
// and what check_asked() and plan_metrics() throw.
AnsweredRows answer_examples(const TaskRow& task, const ExampleSettings& settings, const OpenModel& open_model,
                             const EvalHooks& hooks = {});

// The first half of answer_examples(): reads the files, for a model with these labels. Throws what it throws of them,
// and the error of a bad row unless those are reported.
void check_examples(const TaskRow& task, const ExampleInput& input, const std::vector<std::string>& model_labels,
                    const EvalHooks& hooks = {}, const std::function<void(const Example&)>& on_example = {});

}  // namespace deberta
