// From the logits of a sequence head to labels with scores. Pure functions.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/answer.h"
#include "deberta/config.h"

namespace deberta {

// The activation for the model's problem_type: regression: none; multi-label: sigmoid; single-label or unset: sigmoid
// for one label, else softmax. A sentence-transformers activation in the configuration takes precedence.
ScoreFunction score_function_of(const ModelConfig& config, size_t labels);

// How many labels an answer shows: `top_k` of them; of 0 the best alone, but all where several hold at once: those of a
// multi-label model, the scores of a regression model.
size_t shown_labels(const ModelConfig& config, size_t classes, size_t top_k);

// Scores of C logits, in the order of the labels. Softmax subtracts the largest logit. Throws kNotFinite.
std::vector<float> scores_of_logits(std::span<const float> logits_C, ScoreFunction function);

// The name of a class; LABEL_n if it has none.
std::string label_name(const std::vector<std::string>& labels, size_t number);

// Those of an answer, best first; all scores of a regression model as it has them.
std::vector<LabelScore> labels_of_answer(std::span<const float> scores_C, const ModelConfig& config, size_t top_k);

// The `top_k` best labels, best first, ties in label order; 0: all.
std::vector<LabelScore> rank_labels(std::span<const float> scores_C, const std::vector<std::string>& labels,
                                    size_t top_k);

}  // namespace deberta
