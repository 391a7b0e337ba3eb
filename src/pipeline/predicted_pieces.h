// How well a language model predicts the pieces of texts: a sample of masked ones, or each from those before it. Used
// by `eval` only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "deberta/pipeline.h"
#include "metrics/piece_evaluation.h"
#include "pipeline/plan.h"

namespace deberta {

struct MaskedSampleRules {
  EncodingRules rules;
  double share = 0.15;
  uint64_t seed = 0;
};

struct PieceAnswer {
  PieceOutcome outcome;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Masks the pieces that draw_masks() draws, all of a text at once, and compares the model's predictions with them.
// `numbers`: one for each text, for the draw. A text without pieces has none masked. Throws kTask unless the checkpoint
// is a masked language model with a mask token, and what fill() throws.
Planned<PieceAnswer> plan_masked_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                        std::span<const size_t> numbers, const MaskedSampleRules& rules);
std::vector<PieceAnswer> predict_masked_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                               std::span<const size_t> numbers, const MaskedSampleRules& rules);

// Predicts every piece of a text from the pieces before it, the first from [CLS] alone; not the [SEP] at the end. In a
// text in windows each piece is predicted once, in the first window that has it. Words are what stands between spaces.
// Throws kTask unless the checkpoint is a causal language model, and what embed() throws.
Planned<PieceAnswer> plan_next_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                      const EncodingRules& rules);
std::vector<PieceAnswer> predict_next_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                             const EncodingRules& rules);

}  // namespace deberta
