// From the logits of a language-model head to the most likely tokens of one mask. Pure functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deberta {

struct TokenScore {
  int32_t id = 0;
  float logit = 0;
  float score = 0;  // probability over all V rows, including those without a token
};

// The `top_k` best ids below `tokens` (rows of the head beyond the tokenizer's ids have no text), best first, ties by
// id. With `targets` only these are ranked. Throws kNotFinite.
std::vector<TokenScore> rank_tokens(std::span<const float> logits_V, size_t tokens, size_t top_k,
                                    std::span<const int32_t> targets = {});

}  // namespace deberta
