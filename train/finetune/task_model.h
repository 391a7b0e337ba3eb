// The model that fine-tuning begins with: another one's encoder, and the task's head.
#pragma once
#include <string>
#include <vector>

#include "train/data/task_samples.h"
#include "train/finetune/settings.h"
#include "train/model/model.h"

namespace deberta::train {

struct TaskModel {
  Model model;
  std::vector<std::string> new_layers = {};   // random, as `start` wants it
  std::vector<std::string> new_tensors = {};  // random: the model to begin with has none, or one for other classes
  std::vector<std::string> notes = {};        // tokens that the run adds, parts of a pair that it drops
};

// `seed`: of new weights. Where the model to begin with has a classifier for the same classes, it is kept, and
// `samples` take its order. Throws kUsage for a causal model, for sequences longer than absolute positions and for new
// layers that there are not or that are frozen, and what reading and word_rows() throw.
TaskModel first_task_model(const TaskStart& start, const TaskFiles& files, uint64_t seed, TaskSamples& samples);

// The model of a folder with the head that it has. Throws what reading throws.
ModelForm find_task_form(const std::string& folder);
Model load_task_model(const std::string& folder);

}  // namespace deberta::train
