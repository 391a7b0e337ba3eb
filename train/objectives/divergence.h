// How far the answers of a head for changed inputs are from its answers for the inputs themselves
// (model-training.md#adversarial-fine-tuning). Both are logits of one batch; p and q their probabilities, of classes,
// of the rows of a group, or of each label by itself.
//   CE(p, q)       -sum of p log q, without gradient for p
//   kl             CE(p_clean, q_changed)
//   symmetric kl   CE(p_clean, q_changed) + CE(q_changed, p_clean)
//   squared        (changed - clean)^2, of logits
// A score has no probabilities: always squared.
// N rows  C columns
#pragma once
#include <vector>

#include "train/objectives/task.h"

namespace deberta::train {

enum class DivergenceKind { kSymmetricKl, kKl, kSquared };

// What is compared, and how much each row counts.
struct Comparison {
  enum class Over { kClasses, kGroups, kLabels, kScores } over = Over::kClasses;
  std::vector<int32_t> groups = {};  // kGroups: as TaskLogits::groups
  std::vector<double> weights_N = {};
  double factor = 1;  // times the sum: its divisor is that of task_loss()
};

// A comparison of the rows that the task's loss is about, weighted as there.
Comparison compare_task(const TaskLogits& logits, const TaskBatch& batch, const TaskOptions& options);

// The published code: rows of logits whatever the head, labelled or not, and of scores the whole batch as one row. A
// span and several scores, which it does not have, and a choice are as above. `divisor`: of the task's loss. It has no
// weights of rows: the batch has none.
Comparison compare_originally(const TaskLogits& logits, const TaskBatch& batch, const TaskOptions& options,
                              double divisor);

// A double, the sum over rows without the factor. Gradients flow to both.
at::Tensor divergence(DivergenceKind kind, const at::Tensor& changed_NC, const at::Tensor& clean_NC,
                      const Comparison& comparison);

}  // namespace deberta::train
