// What masking has to know of a vocabulary, piece by piece.
#pragma once
#include <cstdint>
#include <vector>

#include "deberta/tokenizer.h"

namespace deberta::train {

struct Pieces {
  SpecialIds special;
  std::vector<uint8_t> is_special_V;      // [PAD] [CLS] [SEP] [UNK] [MASK]: never predicted
  std::vector<uint8_t> continues_word_V;  // belongs to the word of the piece before it

  size_t size() const { return is_special_V.size(); }
};

// A piece begins a word if it begins with the mark of a space (U+2581; in byte-level vocabularies, a space), if it is a
// single space, control character or punctuation mark, or if it is special; any other continues one. Throws
// kUnsupported for a tokenizer without [MASK], [CLS] or [SEP].
Pieces pieces_of(const Tokenizer& tokenizer);

}  // namespace deberta::train
