// The loss on what is evaluated, where the answers of an evaluation do not contain it: for words, spans, choices and
// mentions. Its labels are read as those of training are, in sequences and windows of the same length.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/task_table.h"
#include "train/data/task_samples.h"
#include "train/finetune/settings.h"
#include "train/model/model.h"
#include "train/run/hooks.h"
#include "train/step/workplace.h"

namespace deberta::train {

// What an evaluation in a run returns: the metrics of the task, the main one first, and last the loss.
std::vector<std::string> metrics_of_evaluation(const TaskRow& task);

class EvaluationLoss {
 public:
  // `settings` outlive it. `labels`: of the model's classes, in its order.
  EvaluationLoss(const TaskFiles& settings, RunTokenizer tokenizer, std::vector<std::string> labels)
      : settings_(settings), tokenizer_(std::move(tokenizer)), labels_(std::move(labels)) {}

  // The mean over all labels that the model has, without dropout, class weights and label smoothing; NaN where there is
  // none. Nothing for other tasks, without files, and once stopped. Throws what reading throws.
  std::optional<double> compute(const Model& model, const Workplace& workplace, const RunHooks& hooks);

 private:
  bool read(const RunHooks& hooks);

  const TaskFiles& settings_;
  RunTokenizer tokenizer_;
  std::vector<std::string> labels_;
  std::optional<TaskSamples> samples_;  // once they are read
};

}  // namespace deberta::train
