// How well a language model predicts pieces of texts: which ones are masked, and the metrics.
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

// The outcome of one text.
struct PieceOutcome {
  double log_probability = 0;  // natural logarithm, summed over the predicted pieces
  size_t pieces = 0;           // predicted
  size_t right = 0;            // pieces whose likeliest prediction is the piece itself
  size_t words = 0;            // words that the pieces spell, where all of them are predicted
};

enum class PredictedPieces {
  kMasked,  // some of a text
  kNext,    // all of it, each from those before
};

// accuracy, perplexity (per piece) and word_perplexity in the order of `metrics`; then the number of masked_pieces, or
// of pieces and words.
std::unique_ptr<Evaluation> make_evaluation(std::vector<PieceOutcome> outcomes, std::vector<std::string> metrics,
                                            PredictedPieces predicted);

}  // namespace deberta
