// Which positions of a sequence are predicted, and what replaces their pieces: the n-gram masking of
// model-training.md#masked-words. A pure function of the seed, the number of the sample in the whole run, and the
// sequence.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/data/pieces.h"

namespace deberta::train {

struct MaskOptions {
  double rate = 0.15;           // share of the tokens of a sequence, [CLS] and [SEP] included
  size_t max_predictions = 80;  // in a sequence; the last word may exceed it
  size_t max_gram = 3;          // words masked in a row; 1: pieces instead of words
  double mask_share = 0.8;      // share of the predicted pieces that become [MASK]
  double keep_share = 0.1;      // stays; the rest becomes any piece of the vocabulary, special ones too
  // Without it the quota is used up from the left, so that the last tenth of a full sequence is never predicted.
  bool has_uniform_tail = false;
};

// The same for the generator of replaced-token detection: pieces, not words, and all of them [MASK].
constexpr MaskOptions masks_for_replaced_tokens(MaskOptions options = {}) {
  options.max_gram = 1;
  options.mask_share = 1;
  options.keep_share = 0;
  return options;
}

// Throws kUsage, naming the option.
void check_mask_options(const MaskOptions& options);

// A sequence of a run: the sample's number counts over all epochs, so that an epoch has other masks than the one
// before.
struct SequenceNumber {
  uint64_t sample = 0;
  uint32_t part = 0;  // the number of a part of a sample that is cut at document borders
};

// What is to be predicted: positions, ascending, and the ids that were there.
struct Predictions {
  std::vector<int32_t> positions;
  std::vector<int32_t> labels;
};

class Masker {
 public:
  // `pieces` must outlive this object.
  Masker(const Pieces& pieces, const MaskOptions& options, uint64_t seed);

  // Changes `ids`, [CLS] run [SEP], and appends to `predictions`; nothing if no piece can be predicted. Thread-safe.
  void mask(std::span<int32_t> ids, SequenceNumber number, Predictions& predictions) const;

 private:
  struct Span {
    size_t begin, end;  // units
  };
  std::vector<std::vector<size_t>> units_of(std::span<const int32_t> ids) const;
  std::vector<Span> choose(size_t units, SequenceNumber number) const;
  size_t quota(size_t tokens) const;
  int32_t replacement(int32_t id, size_t position, SequenceNumber number) const;

  const Pieces& pieces_;
  MaskOptions options_;
  uint64_t choice_key_;
  uint64_t replacement_key_;
};

}  // namespace deberta::train
