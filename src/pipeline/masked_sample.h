// How well a masked language model predicts a fixed sample of the pieces of texts. Used by `eval` only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "deberta/pipeline.h"
#include "metrics/masked_evaluation.h"

namespace deberta {

struct MaskedSampleRules {
  EncodingRules rules;
  double share = 0.15;
  uint64_t seed = 0;
};

struct MaskedSampleAnswer {
  MaskedOutcome outcome;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Masks the pieces that draw_masks() draws, all of a text at once, and compares what the model makes of them.
// `numbers`: one for each text, for the draw. A text without pieces has none masked. Throws kTask unless the checkpoint
// is a masked language model with a mask token, and what fill() throws.
std::vector<MaskedSampleAnswer> answer_masked_sample(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                                     std::span<const size_t> numbers, const MaskedSampleRules& rules);

}  // namespace deberta
