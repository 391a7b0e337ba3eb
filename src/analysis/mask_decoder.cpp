// Refusals, and passes over packs of sequences with logits of single rows.
#include "analysis/mask_decoder.h"

#include <fmt/format.h>

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

}  // namespace

void check_mask_decoder(const Model& model) {
  if (model.has_mask_decoder()) return;
  throw Error(ErrorCode::kTask, "mask decoder",
              fmt::format("expected a masked language model that predicts through it, got {}", reason_against(model)));
}

std::vector<double> log_probabilities(const Model& model, const std::vector<PredictedPiece>& pieces) {
  constexpr size_t kTokensAtOnce = 4096;
  std::vector<double> all;
  for (size_t begin = 0; begin < pieces.size();) {
    Batch batch;
    ForwardOptions options;
    size_t end = begin;
    for (; end < pieces.size() && (end == begin || batch.tokens() + pieces[end].ids.size() <= kTokensAtOnce); ++end) {
      options.rows.push_back(static_cast<int32_t>(batch.tokens() + pieces[end].token));
      batch.add(pieces[end].ids, pieces[end].type_ids);
    }
    ForwardResult result;
    model.forward(batch, options, result);
    for (size_t row = 0; begin < end; ++begin, ++row)
      all.push_back(log_probability(
          std::span(result.logits).subspan(row * result.logits_columns, result.logits_columns), pieces[begin].piece));
  }
  return all;
}

}  // namespace deberta
