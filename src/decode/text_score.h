// From the probabilities of a text's masked tokens to its perplexity. Pure functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "deberta/answer.h"
#include "deberta/tokenizer.h"

namespace deberta {

// Natural logarithm of the probability of `id` among all V rows. Throws kNotFinite.
double log_probability(std::span<const float> logits_V, int32_t id);

// Fills the sums of `answer` from its pieces; `words` is the number of words of the text. A text without pieces has
// perplexity 1. Throws kNotFinite where a perplexity is larger than any float.
void sum_up(TextScoreAnswer& answer, size_t words);

}  // namespace deberta
