// A model with a task's head, as a run trains it.
#pragma once
#include <memory>

#include "deberta/tokenizer.h"
#include "train/data/task_batches.h"
#include "train/finetune/settings.h"
#include "train/finetune/task_model.h"
#include "train/run/learner.h"
#include "train/step/workplace.h"

namespace deberta::train {

// Reads the training files. Nothing once stopped. Throws kUsage for rates that cannot be, before that.
std::optional<TaskSamples> read_training(const FinetuneSettings& settings, const RunHooks& hooks);

// Steps of the run. Throws kUsage for none.
int64_t count_steps(const FinetuneSettings& settings, const TaskBatches& batches);

// `samples` in the order of the model's classes. `settings` and `workplace` outlive the result.
std::unique_ptr<Learner> make_task_learner(const FinetuneSettings& settings, TaskSamples samples, Model model,
                                           const Workplace& workplace);

}  // namespace deberta::train
