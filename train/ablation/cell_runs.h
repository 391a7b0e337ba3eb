// The runs of a cell, and the facts that their folders record about them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "train/ablation/plan.h"
#include "train/ablation/results.h"

namespace deberta::train {

// A fine-tuning; a task with folds has one for each.
struct TaskRun {
  std::string folder;  // within the cell's folder
  std::string fold;    // "2/5"; empty: the task has none
};
std::vector<TaskRun> runs_of(const PlanTask& task);

// The folders of all runs of a cell in that of the cell, in the order in which they run.
std::vector<std::string> run_folders(const Plan& plan);

constexpr const char* kPretrainFolder = "pretrain";

// Facts about a pre-training that its options hold and its folder does not.
struct PretrainingFacts {
  bool is_pair = false;    // a generator and a discriminator; the latter is fine-tuned
  int32_t max_tokens = 0;  // the longest sequence
  double predicted = 0;    // share of the tokens that a language model predicts
  int64_t alone = 0;       // first steps, in which the generator is trained alone
};

// `cell_folder`: of a cell whose pre-training, or whose runs of the task, are finished. Both throw kInput for results
// without the numbers.
void add_pretraining(const std::string& cell_folder, const Cell& cell, const PretrainingFacts& facts,
                     CellResult& result);
// The metric of a task with folds is the mean over them, which the last of them has written.
void add_task(const std::string& cell_folder, const Cell& cell, const PlanTask& task, CellResult& result);

}  // namespace deberta::train
