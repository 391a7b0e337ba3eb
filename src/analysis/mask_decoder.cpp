// Refusals, and passes over packs of sequences with logits of single rows.
#include "analysis/mask_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "decode/text_score.h"
#include "heads/head_facts.h"

namespace deberta {
namespace {

// Why a model has none.
std::string reason_against(const Model& model) {
  const HeadFacts& head = facts_of(model.head());
  if (!head.predicts_words()) return fmt::format("a model whose head is {}", head.name);
  const std::string_view reason = model.config().reason_against_mask_decoder();
  if (!reason.empty()) return fmt::format("one without: {}", reason);
  return "one without: it has no table of absolute positions, or it was switched off";
}

// The first of the pieces, as many as one pass takes: each has a row of logits of the whole vocabulary.
std::span<const PredictedPiece> next_pack(std::span<const PredictedPiece> pieces, const ModelConfig& config) {
  constexpr size_t kTokensAtOnce = 512, kLogitsAtOnce = size_t{1} << 22;
  const size_t most = std::max<size_t>(1, kLogitsAtOnce / static_cast<size_t>(std::max<int64_t>(1, config.vocab_size)));
  size_t count = 0, tokens = 0;
  for (; count < std::min(pieces.size(), most); ++count) {
    tokens += pieces[count].ids.size();
    if (count > 0 && tokens > kTokensAtOnce) break;
  }
  return pieces.first(count);
}

}  // namespace

void check_mask_decoder(const Model& model) {
  if (model.has_mask_decoder()) return;
  throw Error(ErrorCode::kTask, "mask decoder",
              fmt::format("expected a masked language model that predicts through it, got {}", reason_against(model)));
}

std::vector<double> log_probabilities(const Model& model, const std::vector<PredictedPiece>& pieces,
                                      bool skips_mask_decoder) {
  std::vector<double> all;
  while (all.size() < pieces.size()) {
    const std::span<const PredictedPiece> pack = next_pack(std::span(pieces).subspan(all.size()), model.config());
    Batch batch;
    ForwardOptions options;
    options.skips_mask_decoder = skips_mask_decoder;
    for (const PredictedPiece& piece : pack) {
      options.rows.push_back(static_cast<int32_t>(batch.tokens() + piece.token));
      batch.add(piece.ids, piece.type_ids);
    }
    ForwardResult result;
    model.forward(batch, options, result);
    for (size_t row = 0; row < pack.size(); ++row)
      all.push_back(log_probability(
          std::span(result.logits).subspan(row * result.logits_columns, result.logits_columns), pack[row].piece));
  }
  return all;
}

}  // namespace deberta
