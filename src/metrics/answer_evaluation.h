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

// SQuAD 2.0, where some questions have no answer. A question without a prediction is left out, as in the official
// script.
struct NullableOutcome {
  std::optional<std::string> predicted;  // "": no answer
  std::vector<std::string> golds;        // none: "no answer" is correct
  double no_answer = 0;                  // how sure the model is that there is none
};
struct NullableRules {
  double threshold = 1;            // above it a question counts as answered with "no answer"
  bool finds_thresholds = false;   // look for the best ones
  std::vector<size_t> order = {};  // order of equally sure questions; empty: that of the outcomes
};
// exact, f1, total; the same over questions with an answer (HasAns_) and without one (NoAns_); best_exact,
// best_exact_thresh, best_f1, best_f1_thresh. In per cent, except for totals and thresholds.
std::unique_ptr<Evaluation> make_evaluation(const std::vector<NullableOutcome>& outcomes, const NullableRules& rules);

}  // namespace deberta
