// The same text predicted in several ways: through the mask decoder, without it, and with other absolute positions.
// M masks  V vocabulary
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/mask_decoder.h"
#include "deberta/analysis.h"
#include "decode/masked_words.h"

namespace deberta {
namespace {

std::vector<int32_t> positions_from(int32_t first, size_t tokens) {
  std::vector<int32_t> positions(tokens);
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

void check_shift(const ModelConfig& config, size_t tokens, int32_t shift) {
  const int64_t most = config.max_position_embeddings - static_cast<int64_t>(tokens);
  if (shift < 0 || shift > most)
    throw Error(ErrorCode::kInput,
                {{.message = fmt::format("expected 0..{} for a text of {} tokens, got {}", most, tokens, shift),
                  .argument = "shift"}});
}

struct Way {
  std::vector<int32_t> positions;
  bool skips_mask_decoder = false;
};

// Logits of the masks, and every hidden state.
ForwardResult run(const Model& model, const Encoding& encoding, const std::vector<size_t>& masks, Way way) {
  Batch batch;
  batch.add(encoding.ids, encoding.type_ids);
  batch.position_ids_T = std::move(way.positions);
  ForwardOptions options;
  options.skips_mask_decoder = way.skips_mask_decoder;
  for (int64_t layer = 0; layer <= model.config().num_hidden_layers; ++layer)
    options.layers.push_back(static_cast<int32_t>(layer));
  options.rows.assign(masks.begin(), masks.end());
  ForwardResult result;
  model.forward(batch, options, result);
  return result;
}

double hidden_change(const ForwardResult& a, const ForwardResult& b) {
  double most = 0;
  for (size_t layer = 0; layer < a.hidden.size(); ++layer) {
    const std::vector<float>&x = a.hidden[layer].rows_TD, &y = b.hidden[layer].rows_TD;
    for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(double{x[i]} - double{y[i]}));
  }
  return most;
}

}  // namespace

DecoderEffect decoder_effect(const Model& model, const Encoding& encoding, int32_t mask, int32_t shift) {
  check_mask_decoder(model);
  check_shift(model.config(), encoding.size(), shift);
  DecoderEffect effect{
      .masks = mask_positions(encoding.ids, mask), .with = {}, .without = {}, .shifted = {}, .swapped = {}};
  const std::vector<int32_t> positions = positions_from(0, encoding.size());
  ForwardResult with = run(model, encoding, effect.masks, {positions});
  const auto compared = [&](Way way) {
    ForwardResult result = run(model, encoding, effect.masks, std::move(way));
    return MaskPredictions{std::move(result.logits), hidden_change(result, with)};
  };
  effect.without = compared({positions, true});
  effect.shifted = compared({positions_from(shift, encoding.size())});
  if (effect.masks.size() > 1) {
    std::vector<int32_t> swapped = positions;
    std::swap(swapped[effect.masks.front()], swapped[effect.masks.back()]);
    effect.swapped = compared({std::move(swapped)});
  }
  effect.with.logits_MV = std::move(with.logits);
  return effect;
}

}  // namespace deberta
