// Fine-tuning: a model folder for a task, from a model and labelled files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/data/task_samples.h"
#include "train/finetune/settings.h"
#include "train/objectives/task_batch.h"
#include "train/run/hooks.h"
#include "train/run/rate_search.h"
#include "train/run/run.h"

namespace deberta::train {

// Evaluations come at the end of each epoch unless run.eval_steps is set. Throws what run() and the parts do.
RunResult finetune(const FinetuneSettings& settings, const RunHooks& hooks);

// Steps at many learning rates, of which nothing is kept; nothing once stopped.
std::optional<RateSearch> search_rates(const FinetuneSettings& settings, const RunHooks& hooks);

// The fewest micro-batches of a step, at least settings.accumulation, that memory has room for with the longest
// samples; nothing once stopped.
std::optional<size_t> find_accumulation(const FinetuneSettings& settings, const RunHooks& hooks);

// What the first step would train on, without training.
struct FinetuneDryRun {
  int64_t total_steps = 0;
  int64_t parameters = 0;
  TaskSamples samples = {};
  std::vector<TaskBatch> batches = {};  // batches of the first step
  std::vector<std::string> new_layers = {}, new_tensors = {};
  std::vector<std::string> notes = {};  // notes about the vocabulary
};
std::optional<FinetuneDryRun> dry_run(const FinetuneSettings& settings, const RunHooks& hooks);  // nothing once stopped

}  // namespace deberta::train
