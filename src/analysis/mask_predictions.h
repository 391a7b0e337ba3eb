// The predictions of masks, ranked: the best tokens of each mask in each way to predict it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/analysis.h"
#include "decode/masked_words.h"

namespace deberta {

// One way to predict masks: with, without, shifted, swapped.
struct PredictionForm {
  std::string_view name, title;
  const MaskPredictions* predictions = nullptr;
};

// Those of an effect, which outlives them: three, and swapped where there are two masks.
std::vector<PredictionForm> forms_of(const DecoderEffect& effect);

// The logits of the m-th mask, [V].
std::span<const float> logits_at(const DecoderEffect& effect, const MaskPredictions& predictions, size_t mask);

struct RankedToken {
  TokenScore score;
  std::string token_str, piece;
};

// One mask in one form.
struct MaskForm {
  std::string_view form;
  double logit_change = 0, hidden_change = 0;  // against `with`
  std::vector<RankedToken> best;
};

// For each mask its forms, with the `top_k` best tokens of each.
std::vector<std::vector<MaskForm>> rank_predictions(const DecoderEffect& effect, const Tokenizer& tokenizer,
                                                    size_t top_k);

}  // namespace deberta
