// Encode, draw, mask, forward with logits of the masked rows alone, compare.
#include "heads/masked_sample.h"

#include <algorithm>

#include "heads/batches.h"
#include "heads/model_directory.h"
#include "tasks/text_score.h"

namespace deberta {
namespace {

void add_guess(std::span<const float> logits_V, int32_t id, MaskedOutcome& outcome) {
  const auto best = std::max_element(logits_V.begin(), logits_V.end()) - logits_V.begin();
  outcome.log_probability += log_probability(logits_V, id);
  outcome.right += best == id;
  ++outcome.pieces;
}

}  // namespace

std::vector<MaskedSampleAnswer> answer_masked_sample(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                                     std::span<const size_t> numbers, const MaskedSampleRules& rules) {
  check_masked_lm("eval", directory);
  std::vector<Encoding> texts = encode_inputs(directory.tokenizer, inputs, rules.rules);
  std::vector<std::vector<size_t>> masks;
  std::vector<std::vector<int32_t>> hidden;  // the ids behind the masks
  for (size_t i = 0; i < texts.size(); ++i) {
    masks.push_back(draw_masks(texts[i], rules.share, rules.seed, numbers[i]));
    hidden.emplace_back();
    for (const size_t place : masks.back()) {
      hidden.back().push_back(texts[i].ids[place]);
      texts[i].ids[place] = directory.tokenizer.special().mask;
    }
  }
  std::vector<MaskedSampleAnswer> answers(texts.size());
  ForwardResult result;
  for_each_batch(texts, std::min(rules.rules.batch_tokens, kMaskedPackTokens), [&](size_t first, const Batch& batch) {
    ForwardOptions forward;
    for (size_t b = 0; b < batch.sequences(); ++b) {
      for (const size_t place : masks[first + b]) forward.rows.push_back(batch.starts[b] + static_cast<int32_t>(place));
    }
    if (!forward.rows.empty()) directory.model.forward(batch, forward, result);
    std::span<const float> logits_RV = result.logits;
    for (size_t b = 0; b < batch.sequences(); ++b) {
      MaskedSampleAnswer& answer = answers[first + b];
      answer.tokens = texts[first + b].size();
      answer.cut_tokens = texts[first + b].cut_tokens;
      for (const int32_t id : hidden[first + b]) {
        add_guess(logits_RV.first(result.logits_columns), id, answer.outcome);
        logits_RV = logits_RV.subspan(result.logits_columns);
      }
    }
  });
  return answers;
}

}  // namespace deberta
