// The loss of entities by labels: the binary cross-entropy of every span with every label before its text, or of every
// word with each as a beginning, an end and an inside, y = 1 where an entity is right.
//   bce      softplus(s) - y s
//   focal    a_t (1 - p_t)^gamma bce,  p_t = the probability of y,  a_t = alpha where y = 1, else 1 - alpha
// (Lin et al. 2017). It is summed over a text, as GLiNER's trainer does, and its mean is that of texts: a mean over all
// spans would be too small a number for the few that are right.
// N scores
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "deberta/config.h"
#include "train/objectives/loss.h"
#include "train/objectives/task_batch.h"

namespace deberta::train {

struct FocalOptions {
  std::optional<double> alpha = std::nullopt;  // 0 to 1; none: both sides weigh the same
  double gamma = 0;                            // 0: plain cross-entropy
};

// In the order of the head's logits (ForwardOptions::entities). A span of more words than max_width has none.
std::vector<float> entity_targets(const ExtractionConfig& config, const TaskBatch& batch);

// The count is that of all scores, the weight that of texts. correct: by the sign.
Loss extraction_loss(const at::Tensor& logits, std::span<const float> targets_N, size_t texts,
                     const FocalOptions& focal = {});

}  // namespace deberta::train
