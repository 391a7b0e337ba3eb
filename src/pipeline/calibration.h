// Runs texts through a model to calibrate int8, and to compare int8 with fp32.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "checkpoint/calibration.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// Called with the number of texts done; may throw to stop.
using OnTexts = std::function<void(size_t texts)>;

// mDeBERTa's activations are more uneven than its weights can absorb at 1/2.
double usual_smoothing(const ModelConfig& config);

// `model` is `checkpoint` in fp32. Every layer runs on every token; a language model also runs its decoder, on some.
// Throws kInput without texts, and what the model throws.
Calibration calibrate(const Model& model, const Checkpoint& checkpoint, std::span<const Encoding> texts,
                      double smoothing, const OnTexts& on_texts);

// Logits, or the last hidden states of a model without a head. Cosine of all values as one vector, and of each text's.
struct OutputComparison {
  double cosine = 1;
  double least_cosine = 1;
  double mean_cosine = 1;
  size_t answers = 0;  // rows of logits with an argmax: texts, tokens or masks; 0: the head has none
  size_t equal_answers = 0;
};
OutputComparison compare_outputs(const Model& expected, const Model& model, std::span<const Encoding> texts,
                                 const OnTexts& on_texts);

}  // namespace deberta
