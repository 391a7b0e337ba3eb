// What the heads of a model do with one text, in a few figures for each, and small pictures of their weights.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "deberta/analysis.h"

namespace deberta {

struct HeadFigures {
  int32_t layer = 0;    // number, from 1
  size_t head = 0;      // index, from 0
  double entropy = 0;   // entropy of a query's weights in nats, averaged over the queries
  double distance = 0;  // |query - key|, by weight; mean over the queries
  double first = 0;     // weight on the first token; mean over the queries
  // How much each term varies over the keys of a query, as a share of all terms' (variances; their mean over the
  // queries). What is the same for all keys changes no weight.
  double c2c = 0, c2p = 0, p2c = 0;
};

// In order of layers and heads.
std::vector<HeadFigures> head_figures(const AttentionTerms& terms);

// The softmax of each head as size x size means, 255 for the largest mean of the head; size is that of the matrix where
// that is smaller. [layers * heads, size, size]
struct Thumbnails {
  size_t size = 0;
  std::vector<uint8_t> pixels;
};
Thumbnails thumbnails(const AttentionTerms& terms, size_t size);

}  // namespace deberta
