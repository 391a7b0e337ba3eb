// Sums of logarithms.
#include "decode/text_score.h"

#include <algorithm>
#include <cmath>

#include "decode/logits.h"

namespace deberta {

double log_probability(std::span<const float> logits_V, int32_t id) {
  check_finite(logits_V);
  const double largest = *std::max_element(logits_V.begin(), logits_V.end());
  double sum = 0;
  for (const float x : logits_V) sum += std::exp(x - largest);
  return logits_V[static_cast<size_t>(id)] - largest - std::log(sum);
}

void sum_up(TextScoreAnswer& answer, size_t words) {
  answer.log_probability = 0;
  for (const TextScoreAnswer::Token& piece : answer.pieces) answer.log_probability += double{piece.log_probability};
  const auto perplexity = [&](size_t units) {
    return units == 0 ? 1.0 : std::exp(-answer.log_probability / static_cast<double>(units));
  };
  answer.perplexity = perplexity(answer.pieces.size());
  answer.word_perplexity = perplexity(words);
}

}  // namespace deberta
