// Samples in words, for a person who wants to see what a run would train on. Printing is not done here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deberta/tokenizer.h"
#include "train/objectives/batch.h"

namespace deberta::train {

struct DescribedPiece {
  std::string read;   // the piece that the model reads
  std::string label;  // the piece to predict at this row; empty: none
  bool is_predicted = false;
};

using DescribedSequence = std::vector<DescribedPiece>;

struct BatchDescription {
  size_t batches = 0;
  size_t sequences = 0;
  size_t tokens = 0;
  size_t shortest = 0;  // sequence, in tokens
  size_t longest = 0;
  size_t predictions = 0;
  size_t masked = 0;                     // predictions where [MASK] is read
  size_t kept = 0;                       // the label itself
  size_t replaced = 0;                   // another piece
  size_t unknown = 0;                    // tokens of the texts, before masking, that are [UNK]
  size_t spelled = 0;                    // byte pieces: text without a piece of its own
  std::vector<DescribedSequence> first;  // the first sequences

  double unknown_share() const { return tokens == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(tokens); }
  double spelled_share() const { return tokens == 0 ? 0 : static_cast<double>(spelled) / static_cast<double>(tokens); }
};

// At most `most_sequences` are shown; all are counted. `has_next_labels`: labels are the pieces that follow, and are
// unrelated to the token of their own row.
BatchDescription describe(const std::vector<TrainBatch>& batches, const Tokenizer& tokenizer, size_t most_sequences,
                          bool has_next_labels = false);

}  // namespace deberta::train
