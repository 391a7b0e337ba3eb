// Metrics of questions with textual answers: SQuAD, ReCoRD.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metrics/evaluation.h"

namespace deberta {

// Questions with an answer and the gold answers: SQuAD 1.1, ReCoRD.
struct AnswerOutcome {
  std::optional<std::string> predicted;  // none counts as wrong
  std::vector<std::string> golds;
};
// exact_match and f1, in the order of `metrics`, in per cent.
std::unique_ptr<Evaluation> make_evaluation(const std::vector<AnswerOutcome>& outcomes,
                                            std::vector<std::string> metrics);

// SQuAD 2.0, where some questions have no answer. A question that has no prediction is left out, as the official
// script leaves it out.
struct NullableOutcome {
  std::optional<std::string> predicted;  // "": no answer
  std::vector<std::string> golds;        // none: no answer is right
  double no_answer = 0;                  // how sure the model is of that
};
struct NullableRules {
  double threshold = 1;            // above it a question counts as answered with nothing
  bool finds_thresholds = false;   // look for the best ones
  std::vector<size_t> order = {};  // of the questions, in which equally sure ones are tried; empty: as they come
};
// exact, f1, total; the same of questions that have an answer (HasAns_) and of those that have none (NoAns_);
// best_exact, best_exact_thresh, best_f1, best_f1_thresh. Per cent but for totals and thresholds.
std::unique_ptr<Evaluation> make_evaluation(const std::vector<NullableOutcome>& outcomes, const NullableRules& rules);

}  // namespace deberta
