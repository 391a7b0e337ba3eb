// From logits to the best tokens, form by form.
// V vocabulary
#include "analysis/mask_predictions.h"

#include <algorithm>
#include <cmath>

namespace deberta {
namespace {

double largest_change(std::span<const float> a, std::span<const float> b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
  return most;
}

std::vector<RankedToken> best_of(std::span<const float> logits_V, const Tokenizer& tokenizer, size_t top_k) {
  std::vector<RankedToken> best;
  for (const TokenScore& score : rank_tokens(logits_V, tokenizer.size(), top_k)) {
    const int32_t ids[] = {score.id};
    best.push_back({score, tokenizer.decode(ids, false), std::string(tokenizer.piece(score.id))});
  }
  return best;
}

}  // namespace

std::vector<PredictionForm> forms_of(const DecoderEffect& effect) {
  std::vector<PredictionForm> forms{{"with", "with the mask decoder", &effect.with},
                                    {"without", "without it", &effect.without},
                                    {"shifted", "positions shifted", &effect.shifted}};
  if (effect.swapped) forms.push_back({"swapped", "positions of the masks swapped", &*effect.swapped});
  return forms;
}

std::span<const float> logits_at(const DecoderEffect& effect, const MaskPredictions& predictions, size_t mask) {
  const size_t words = predictions.logits_MV.size() / effect.masks.size();
  return std::span(predictions.logits_MV).subspan(mask * words, words);
}

std::vector<std::vector<MaskForm>> rank_predictions(const DecoderEffect& effect, const Tokenizer& tokenizer,
                                                    size_t top_k) {
  std::vector<std::vector<MaskForm>> masks(effect.masks.size());
  for (size_t mask = 0; mask < masks.size(); ++mask) {
    for (const PredictionForm& form : forms_of(effect)) {
      const std::span<const float> logits_V = logits_at(effect, *form.predictions, mask);
      masks[mask].push_back({form.name, largest_change(logits_V, logits_at(effect, effect.with, mask)),
                             form.predictions->hidden_change, best_of(logits_V, tokenizer, top_k)});
    }
  }
  return masks;
}

}  // namespace deberta
