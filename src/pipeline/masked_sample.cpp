// Encode, draw, mask, forward with logits of the masked rows alone, compare.
#include "pipeline/masked_sample.h"

#include <algorithm>

#include "decode/text_score.h"
#include "pipeline/batches.h"

namespace deberta {
namespace {

void add_guess(std::span<const float> logits_V, int32_t id, MaskedOutcome& outcome) {
  const auto best = std::max_element(logits_V.begin(), logits_V.end()) - logits_V.begin();
  outcome.log_probability += log_probability(logits_V, id);
  outcome.right += best == id;
  ++outcome.pieces;
}

}  // namespace

std::vector<MaskedSampleAnswer> answer_masked_sample(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                                     std::span<const size_t> numbers, const MaskedSampleRules& rules) {
  check_masked_lm("eval", pipeline);
  std::vector<Encoding> texts = encode_inputs(pipeline.tokenizer, inputs, rules.rules);
  std::vector<std::vector<size_t>> masks;
  std::vector<std::vector<int32_t>> hidden;  // the ids behind the masks
  for (size_t i = 0; i < texts.size(); ++i) {
    masks.push_back(draw_masks(texts[i], rules.share, rules.seed, numbers[i]));
    hidden.emplace_back();
    for (const size_t place : masks.back()) {
      hidden.back().push_back(texts[i].ids[place]);
      texts[i].ids[place] = pipeline.tokenizer.special().mask;
    }
  }
  std::vector<MaskedSampleAnswer> answers;
  answers.reserve(texts.size());
  for (const Encoding& text : texts) answers.push_back({{}, text.size(), text.cut_tokens});
  for_each_masked(pipeline.model, texts, masks, rules.rules.batch_tokens,
                  [&](size_t text, size_t i, std::span<const float> logits_V) {
                    add_guess(logits_V, hidden[text][i], answers[text].outcome);
                  });
  return answers;
}

}  // namespace deberta
