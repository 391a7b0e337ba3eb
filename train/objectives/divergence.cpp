// Chooses over which axis the probabilities are taken and how rows weigh, then sums in double.
#include "train/objectives/divergence.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softplus.h>

#include <algorithm>

#include "train/objectives/groups.h"
#include "train/objectives/mentions.h"

namespace deberta::train {
namespace {

using Over = Comparison::Over;

Over over_of(TaskLoss loss) {
  switch (loss) {
    case TaskLoss::kClass:
    case TaskLoss::kTokens:
      return Over::kClasses;
    case TaskLoss::kSpan:
    case TaskLoss::kChoice:
      return Over::kGroups;
    case TaskLoss::kLabels:
    case TaskLoss::kMention:
      return Over::kLabels;
    case TaskLoss::kExtraction:  // not compared with another model's answers (finetune/task_learner.cpp)
      return Over::kLabels;
    case TaskLoss::kScore:
    case TaskLoss::kRanking:
      return Over::kScores;
  }
  return Over::kClasses;
}

// What each row of the task's loss weighs there.
void set_class_weights(std::span<const int32_t> labels_N, const TaskOptions& options, std::vector<double>& weights_N) {
  for (size_t n = 0; n < labels_N.size(); ++n) {
    if (labels_N[n] < 0) {
      weights_N[n] = 0;
    } else if (!options.class_weights_C.empty()) {
      weights_N[n] = double{options.class_weights_C[static_cast<size_t>(labels_N[n])]};
    }
  }
}

void set_question_weights(const TaskBatch& batch, std::vector<double>& weights_N) {
  for (size_t q = 0; q < batch.right_Q.size(); ++q) {
    if (batch.right_Q[q] < 0)
      std::fill(weights_N.begin() + batch.questions[q], weights_N.begin() + batch.questions[q + 1], 0.0);
  }
}

void multiply_by_rows(const TaskBatch& batch, std::vector<double>& weights_N) {
  for (size_t n = 0; n < batch.weights_B.size(); ++n) weights_N[n] *= double{batch.weights_B[n]};
}

void set_mention_weights(const TaskBatch& batch, std::vector<double>& weights_N) {
  for (size_t m = 0; m < weights_N.size(); ++m) weights_N[m] = batch.mentions[m + 1] > batch.mentions[m] ? 1 : 0;
}

// -p log q, without gradient for p.
at::Tensor cross(const at::Tensor& p_NC, const at::Tensor& q_NC, const Comparison& comparison) {
  const at::Tensor fixed_NC = p_NC.detach();
  if (comparison.over == Over::kLabels) return at::softplus(q_NC) - q_NC * fixed_NC.sigmoid();
  if (comparison.over == Over::kClasses) return -fixed_NC.softmax(1) * q_NC.log_softmax(1);
  return -log_softmax_groups(fixed_NC, comparison.groups).exp() * log_softmax_groups(q_NC, comparison.groups);
}

at::Tensor compare(DivergenceKind kind, const at::Tensor& changed_NC, const at::Tensor& clean_NC,
                   const Comparison& comparison) {
  if (kind == DivergenceKind::kSquared || comparison.over == Over::kScores) return (changed_NC - clean_NC).square();
  const at::Tensor one_way_NC = cross(clean_NC, changed_NC, comparison);
  return kind == DivergenceKind::kKl ? one_way_NC : one_way_NC + cross(changed_NC, clean_NC, comparison);
}

}  // namespace

Comparison compare_task(const TaskLogits& logits, const TaskBatch& batch, const TaskOptions& options) {
  const auto rows = static_cast<size_t>(logits.logits_NC.size(0));
  const double each = options.loss == TaskLoss::kSpan ? 0.5 : 1;  // the mean of both columns
  Comparison comparison{over_of(options.loss), logits.groups, std::vector<double>(rows, each)};
  set_class_weights(options.loss == TaskLoss::kTokens ? batch.input.labels_P : batch.classes_B, options,
                    comparison.weights_N);
  set_question_weights(batch, comparison.weights_N);
  if (options.loss == TaskLoss::kMention) set_mention_weights(batch, comparison.weights_N);
  multiply_by_rows(batch, comparison.weights_N);
  return comparison;
}

Comparison compare_originally(const TaskLogits& logits, const TaskBatch& batch, const TaskOptions& options,
                              double divisor) {
  Comparison comparison = compare_task(logits, batch, options);
  const auto rows = static_cast<int32_t>(logits.logits_NC.size(0));
  size_t count = static_cast<size_t>(rows);
  if (options.loss == TaskLoss::kLabels) comparison.over = Over::kClasses;
  if (options.loss == TaskLoss::kScore) comparison.groups = {0, rows};
  if (options.loss == TaskLoss::kMention) comparison.groups = mention_rows(batch)->starts;
  if (!comparison.groups.empty()) {
    comparison.over = Over::kGroups;
    count = comparison.groups.size() - 1;
  }
  const bool has_columns =
      options.loss == TaskLoss::kSpan || options.loss == TaskLoss::kScore;  // the mean over columns
  std::ranges::fill(comparison.weights_N, has_columns ? 1.0 / static_cast<double>(logits.logits_NC.size(1)) : 1);
  comparison.factor = divisor / static_cast<double>(count);
  return comparison;
}

at::Tensor divergence(DivergenceKind kind, const at::Tensor& changed_NC, const at::Tensor& clean_NC,
                      const Comparison& comparison) {
  at::Tensor weights_N1 = at::empty({static_cast<int64_t>(comparison.weights_N.size()), 1}, at::kDouble);
  std::ranges::copy(comparison.weights_N, weights_N1.data_ptr<double>());
  const at::Tensor all_NC = compare(kind, changed_NC.to(at::kDouble), clean_NC.to(at::kDouble), comparison);
  return (all_NC * weights_N1.to(all_NC.device())).sum();
}

}  // namespace deberta::train
