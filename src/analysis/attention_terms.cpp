// One forward pass that keeps the scores of each term, of the layers or of the mask decoder.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "analysis/mask_decoder.h"
#include "deberta/analysis.h"

namespace deberta {
namespace {

void check_layers(const std::vector<int32_t>& layers, int64_t count) {
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i] < 1 || layers[i] > count || (i > 0 && layers[i] <= layers[i - 1])) {
      throw Error(ErrorCode::kInput, "layers", fmt::format("expected 1..{} ascending, got {}", count, layers[i]));
    }
  }
}

LayerTerms to_terms(AttentionScores scores) {
  std::vector<float> sum_HLL = scores.c2c_HLL;
  for (const std::vector<float>* term : {&scores.c2p_HLL, &scores.p2c_HLL}) {
    for (size_t i = 0; i < term->size(); ++i) sum_HLL[i] += (*term)[i];
  }
  return {scores.layer,       std::move(scores.c2c_HLL),          std::move(scores.c2p_HLL), std::move(scores.p2c_HLL),
          std::move(sum_HLL), std::move(scores.probabilities_HLL)};
}

// One text, all of its scores wanted.
ForwardResult run(const Model& model, const Encoding& encoding, const ForwardOptions& options) {
  Batch batch;
  batch.add(encoding.ids, encoding.type_ids);
  ForwardResult result;
  model.forward(batch, options, result);
  return result;
}

}  // namespace

AttentionTerms attention_terms(const Model& model, const Encoding& encoding, const std::vector<int32_t>& layers) {
  check_layers(layers, model.config().num_hidden_layers);
  ForwardOptions options;
  options.wants_logits = false;
  options.wants_scores = true;
  ForwardResult result = run(model, encoding, options);
  AttentionTerms terms{static_cast<size_t>(model.config().num_attention_heads), encoding.size(), {}};
  for (AttentionScores& scores : result.scores) {
    if (layers.empty() || std::binary_search(layers.begin(), layers.end(), scores.layer))
      terms.layers.push_back(to_terms(std::move(scores)));
  }
  return terms;
}

AttentionTerms decoder_terms(const Model& model, const Encoding& encoding) {
  check_mask_decoder(model);
  ForwardOptions options;
  options.wants_decoder_scores = true;
  ForwardResult result = run(model, encoding, options);
  AttentionTerms terms{static_cast<size_t>(model.config().num_attention_heads), encoding.size(), {}};
  for (AttentionScores& scores : result.decoder_scores) terms.layers.push_back(to_terms(std::move(scores)));
  return terms;
}

}  // namespace deberta
