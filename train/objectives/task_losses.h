// Losses of fine-tuning (algorithm.md 13) on the logits of a head, which are few: plain compositions.
// B sequences  N rows  C classes
#pragma once
#include <span>

#include "train/objectives/loss.h"

namespace deberta::train {

// Cross-entropy over labels >= 0; others do not count. Logits [N, C]. Of multiple choice: one row per question, C
// choices.
Loss class_loss(const at::Tensor& logits_NC, std::span<const int32_t> labels_N);

// Cross-entropy with a distribution for each row.
Loss soft_class_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC);

// Squared error, flat.
Loss regression_loss(const at::Tensor& logits_N1, std::span<const float> labels_N);

// Binary cross-entropy of every label by itself; the count is that of all N * C labels. correct: by the sign.
Loss binary_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC);

}  // namespace deberta::train
