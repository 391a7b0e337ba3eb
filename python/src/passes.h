// The model itself: ids in, arrays out; and the terms of its attention.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "python/src/opened.h"

namespace deberta::python {

// What a pass is to return.
struct PassWishes {
  std::vector<int32_t> layers;  // hidden states: 0 (embeddings) .. N, or from the end: -1 is the last
  bool logits = true;
  bool scores = false;  // the terms of attention, of every layer and sequence
};

// `ids`: a list of lists, one for each sequence; `type_ids` likewise, or None; `mask` likewise, or None: rows of one
// length, where 0 is padding or a token that nobody sees. The dict has arrays of packed rows: starts [B + 1], rows [T]
// (with a mask: the place in [B, L] of each), hidden {layer: [T, D]}, pooled [B, D], logits [rows, C], scores.
nanobind::dict forward(const Opened& opened, nanobind::handle ids, nanobind::handle type_ids, nanobind::handle mask,
                       const PassWishes& wishes);

// (pieces, layers) of a list of one text, and of one pair or None: for each layer a dict of c2c, c2p, p2c, sum and
// softmax [H, L, L], or None where the model lacks the term. `of_decoder`: of the passes of the mask decoder.
nanobind::tuple attention_terms(const Opened& opened, nanobind::handle texts, nanobind::handle pairs,
                                nanobind::handle layers, bool of_decoder);

}  // namespace deberta::python
