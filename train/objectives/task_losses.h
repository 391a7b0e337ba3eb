// Losses of fine-tuning (model-training.md#fine-tuning) on the logits of a head, which are few: plain compositions.
// B sequences  N rows  C classes  G groups of rows
#pragma once
#include <span>

#include "train/objectives/loss.h"

namespace deberta::train {

struct ClassOptions {
  double label_smoothing = 0;             // share of each label that is spread evenly over all classes
  std::span<const float> weights_C = {};  // for each class, above 0: the mean divides by those of the labels; empty: 1
  std::span<const float> weights_N = {};  // for each row, above 0, besides: the mean divides by both; empty: 1
};

// Cross-entropy over labels >= 0; others do not count. Logits [N, C].
Loss class_loss(const at::Tensor& logits_NC, std::span<const int32_t> labels_N, const ClassOptions& options = {});

// Cross-entropy with a distribution for each row; its classes are weighted one by one, and the mean is over rows, by
// their weights.
Loss soft_class_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC, const ClassOptions& options = {});

// Cross-entropy over the rows of each group (objectives/groups.h): which of a question's choices, which token of a
// sequence. Each column is a question of its own, with a label for each group, a number within it; the loss of a group
// is the mean over columns. A group with a label below 0 does not count. correct: in all columns.
Loss group_loss(const at::Tensor& logits_ND, std::span<const int32_t> starts, std::span<const int32_t> labels_GD,
                double label_smoothing = 0);

// Squared error of every score; the count is that of all N * C scores. `weights_N`: of rows; empty: 1.
Loss regression_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC,
                     std::span<const float> weights_N = {});

// Binary cross-entropy of every label by itself; the count is that of all N * C labels. correct: by the sign.
Loss binary_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC, std::span<const float> weights_N = {});

}  // namespace deberta::train
