// Places of entities among the scores, and the loss as a composition.
#include "train/objectives/extraction.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softplus.h>

#include <algorithm>

#include "kernels/entity_scores.h"

namespace deberta::train {
namespace {

// Where the scores of each sequence begin, and the end.
std::vector<size_t> first_scores(const ExtractionConfig& config, const TaskBatch& batch) {
  std::vector<size_t> first = {0};
  for (const LabelledWords& sequence : batch.words_B) {
    const size_t cells = config.has_spans() ? count_spans(sequence.words(), static_cast<size_t>(config.max_width))
                                            : sequence.words() * kWordScores;
    first.push_back(first.back() + cells * sequence.labels.size());
  }
  return first;
}

}  // namespace

std::vector<float> entity_targets(const ExtractionConfig& config, const TaskBatch& batch) {
  const std::vector<size_t> first_scores_B = first_scores(config, batch);
  std::vector<float> targets(first_scores_B.back(), 0);
  for (const EntityTarget& entity : batch.entities) {
    const auto sequence = static_cast<size_t>(entity.sequence), label = static_cast<size_t>(entity.label);
    const auto first = static_cast<size_t>(entity.first), last = static_cast<size_t>(entity.last);
    const LabelledWords& words = batch.words_B[sequence];
    const size_t labels = words.labels.size(), begin = first_scores_B[sequence];
    if (config.has_spans()) {
      const auto width = static_cast<size_t>(config.max_width);
      if (last - first >= width) continue;
      targets[begin + (first_span_of(first, words.words(), width) + last - first) * labels + label] = 1;
      continue;
    }
    const auto at = [&](size_t word, size_t score) -> float& {
      return targets[begin + (word * labels + label) * kWordScores + score];
    };
    at(first, 0) = at(last, 1) = 1;
    for (size_t word = first; word <= last; ++word) at(word, 2) = 1;
  }
  return targets;
}

Loss extraction_loss(const at::Tensor& logits, std::span<const float> targets_N, size_t texts,
                     const FocalOptions& focal) {
  at::Tensor given_N = at::empty({static_cast<int64_t>(targets_N.size())}, at::kFloat);
  std::copy(targets_N.begin(), targets_N.end(), given_N.data_ptr<float>());
  const at::Tensor scores_N = logits.reshape({-1});
  const at::Tensor y_N = given_N.to(scores_N.options().requires_grad(false));
  at::Tensor loss_N = at::softplus(scores_N) - scores_N * y_N;
  if (focal.gamma != 0) {
    // 1 - p_t = sigmoid(-s) where y = 1, else sigmoid(s); as an exponential, whose slope is finite where it vanishes.
    loss_N = loss_N * (-focal.gamma * at::softplus(scores_N * (2 * y_N - 1))).exp();
  }
  if (focal.alpha) loss_N = loss_N * (*focal.alpha * y_N + (1 - *focal.alpha) * (1 - y_N));
  const at::Tensor right_N = scores_N.ge(0).eq(y_N.ge(0.5));
  return {loss_N.sum(at::kDouble), scores_N.numel(), right_N.sum().item<int64_t>(), static_cast<double>(texts)};
}

}  // namespace deberta::train
