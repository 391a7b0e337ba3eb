// A masked language model's predictions for a fixed sample of a text's pieces: the sample, and its metrics.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deberta/tokenizer.h"
#include "metrics/evaluation.h"

namespace deberta {

// Which pieces to mask: each with probability `share`, by Philox from the seed, the text's number and the piece's
// position; when none is drawn, one. Positions in order, special tokens excluded. The same on every machine.
std::vector<size_t> draw_masks(const Encoding& text, double share, uint64_t seed, uint64_t number);

// Of one text.
struct MaskedOutcome {
  double log_probability = 0;  // natural logarithm, summed over the masked pieces
  size_t pieces = 0;           // masked
  size_t right = 0;            // whose likeliest prediction is the original piece
};
// accuracy and perplexity (per masked piece) in the order of `metrics`; masked_pieces.
std::unique_ptr<Evaluation> make_evaluation(std::vector<MaskedOutcome> outcomes, std::vector<std::string> metrics);

}  // namespace deberta
