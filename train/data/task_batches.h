// The batches of fine-tuning: which samples a step sees, in which order, packed. A pure function of the step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/data/task_samples.h"
#include "train/objectives/task_batch.h"

namespace deberta::train {

struct TaskBatchSettings {
  uint64_t seed = 1234;
  size_t samples_per_step = 32;
  size_t accumulation = 1;  // micro-batches of a step; a divisor of samples_per_step
};

class TaskBatches {
 public:
  // `samples` outlives it. Throws kUsage for batches that cannot be divided as asked.
  TaskBatches(const TaskSamples& samples, const TaskBatchSettings& settings);

  // Each epoch is every sample once, in an order of its own; its last step has what is left.
  int64_t steps_per_epoch() const;

  // The micro-batches of a step. With fewer samples than a step has, there may be fewer of them.
  std::vector<TaskBatch> make(int64_t step) const;

 private:
  const TaskSamples& samples_;
  TaskBatchSettings settings_;
};

// Samples one after the other as one pack. `first_sequence`: the number of the first one in its step. `has_weights`: of
// the rows, which are counted with them.
TaskBatch pack_samples(TaskLoss loss, const std::vector<const TaskSample*>& samples, uint32_t first_sequence,
                       bool has_weights = false);

}  // namespace deberta::train
