// Where the masks of a text are, and from the logits of a language-model head to the most likely tokens of one. Pure
// functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deberta {

// The places of the masks in a text. Throws kInput where it has none.
std::vector<size_t> mask_positions(std::span<const int32_t> ids, int32_t mask_id);

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
