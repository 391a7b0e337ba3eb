// What cannot be learnt: a head or options for something else, labels that do not fit, rows that are not where they
// should be. Checked before a batch is computed, since what follows indexes without looking.
#pragma once
#include "train/objectives/task.h"

namespace deberta::train {

// Throws kTask (the head is for something else), kUsage (options that the loss does not have).
void check_task(const ModelForm& form, const TaskOptions& options);

// Throws kInput, naming the sequence, label, question or mention.
void check_batch(const ModelForm& form, const TaskBatch& batch, TaskLoss loss);

}  // namespace deberta::train
