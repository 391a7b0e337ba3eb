// Activations and ranking of labels.
#include "decode/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "deberta/error.h"
#include "decode/logits.h"

namespace deberta {

ScoreFunction score_function_of(const ModelConfig& config, size_t labels) {
  const std::string& activation = config.sentence_transformers_activation;
  if (activation == "Identity") return ScoreFunction::kNone;
  if (activation == "Sigmoid") return ScoreFunction::kSigmoid;
  if (activation == "Tanh") return ScoreFunction::kTanh;
  if (activation == "Softmax") return ScoreFunction::kSoftmax;
  if (!activation.empty())
    throw Error(ErrorCode::kUnsupported, {{.where = "activation_fn",
                                           .message = fmt::format("{} is not computed here", activation),
                                           .argument = "function",
                                           .remedies = {{"choose a function", "function"}}}});
  switch (config.problem_type) {
    case ProblemType::kRegression:
      return ScoreFunction::kNone;
    case ProblemType::kMultiLabel:
      return ScoreFunction::kSigmoid;
    case ProblemType::kSingleLabel:  // the softmax of a single logit is 1 for any text
    case ProblemType::kUnset:
      break;
  }
  return labels == 1 ? ScoreFunction::kSigmoid : ScoreFunction::kSoftmax;
}

size_t shown_labels(const ModelConfig& config, size_t classes, size_t top_k) {
  if (top_k > 0) return std::min(top_k, classes);
  const bool shows_all =
      config.problem_type == ProblemType::kMultiLabel || config.problem_type == ProblemType::kRegression;
  return shows_all ? classes : 1;
}

std::vector<float> scores_of_logits(std::span<const float> logits_C, ScoreFunction function) {
  check_finite(logits_C);
  std::vector<float> scores(logits_C.begin(), logits_C.end());
  if (function == ScoreFunction::kSigmoid) {
    for (float& x : scores) x = static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x))));
  } else if (function == ScoreFunction::kTanh) {
    for (float& x : scores) x = std::tanh(x);
  } else if (function == ScoreFunction::kSoftmax && !scores.empty()) {
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (const float x : scores) sum += std::exp(x - largest);
    for (float& x : scores) x = static_cast<float>(std::exp(x - largest) / sum);
  }
  return scores;
}

std::string label_name(const std::vector<std::string>& labels, size_t number) {
  return number < labels.size() ? labels[number] : "LABEL_" + std::to_string(number);
}

std::vector<LabelScore> labels_of_answer(std::span<const float> scores_C, const ModelConfig& config, size_t top_k) {
  if (top_k > 0 || config.problem_type != ProblemType::kRegression)
    return rank_labels(scores_C, config.labels, shown_labels(config, scores_C.size(), top_k));
  std::vector<LabelScore> labels;  // a score is not better than another
  for (size_t c = 0; c < scores_C.size(); ++c) labels.push_back({label_name(config.labels, c), scores_C[c]});
  return labels;
}

std::vector<LabelScore> rank_labels(std::span<const float> scores_C, const std::vector<std::string>& labels,
                                    size_t top_k) {
  std::vector<size_t> order(scores_C.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores_C[a] > scores_C[b]; });
  if (top_k > 0 && top_k < order.size()) order.resize(top_k);
  std::vector<LabelScore> ranked;
  ranked.reserve(order.size());
  for (const size_t i : order) {
    ranked.push_back({label_name(labels, i), scores_C[i]});
  }
  return ranked;
}

}  // namespace deberta
