// Learning from a teacher (Hinton et al. 2015): beside the labels, the answers of a trained model for the same batch.
//   loss = (1 - weight) task + weight T^2 KL( softmax(teacher / T), softmax(student / T) )
// over the classes of a row, the rows of a group or each label by itself, as divergence() compares them. A score has no
// probabilities: weight (student - teacher)^2.
#pragma once
#include <cstdint>
#include <vector>

#include "train/objectives/task.h"

namespace deberta::train {

struct DistillationOptions {
  double weight = 0.5;     // 0: the labels alone; 1: the teacher alone
  double temperature = 2;  // T
};

struct Teacher {
  Model model;                          // any form that has the head of the task
  std::vector<int64_t> columns_C = {};  // for each class the column of its logits; empty: as they are
};

struct DistillationLoss {
  Loss loss;                          // all of it, with the count of the task's
  double task = 0, distillation = 0;  // sums, without their weights, with the divisor of the loss
};

// `student` are logits of the batch with gradients, `teacher` those of Teacher::model.
DistillationLoss distillation_loss(const TaskLogits& student, const at::Tensor& teacher_NC, const TaskBatch& batch,
                                   const TaskOptions& options, const DistillationOptions& distillation);

// `dropout` applies to the student; the teacher has none. Throws what task_loss() does, of either model.
DistillationLoss distillation_loss(const Model& student, const Teacher& teacher, const Compute& compute,
                                   const TaskBatch& batch, const TaskOptions& options,
                                   const DistillationOptions& distillation, const DropoutStream& dropout);

}  // namespace deberta::train
