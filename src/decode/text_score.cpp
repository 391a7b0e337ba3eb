// Sums of logarithms.
#include "decode/text_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "deberta/error.h"
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
  const auto perplexity = [&](const char* name, size_t units) {
    const double exponent = units == 0 ? 0 : -answer.log_probability / static_cast<double>(units);
    const double value = std::exp(exponent);
    if (value <= std::numeric_limits<float>::max()) return value;
    throw Error(ErrorCode::kNotFinite, name,
                fmt::format("expected at most {:.1e}, the largest float, got exp({:.1f})",
                            std::numeric_limits<float>::max(), exponent));
  };
  answer.perplexity = perplexity("perplexity", answer.pieces.size());
  answer.word_perplexity = perplexity("word_perplexity", words);
}

}  // namespace deberta
