// How many parameters a model has, by part, from the table of tensors.
#pragma once
#include <cstdint>

#include "deberta/config.h"
#include "heads/head_facts.h"

namespace deberta {

struct ParameterCounts {
  int64_t words = 0;                 // V E
  int64_t positions = 0;             // the absolute table
  int64_t embeddings = 0;            // what else they have: the norm, types, the projection from E to D
  int64_t layers = 0;                // projections of contents, feed-forward layers, norms
  int64_t relative_projections = 0;  // of their own: 2 N D^2 and biases, or none with share_att_key
  int64_t relative_table = 0;        // R D, and its norm
  int64_t convolution = 0;
  int64_t head = 0;

  // What authors give as the size of a model beside its vocabulary.
  int64_t backbone() const { return embeddings + layers + relative_projections + relative_table + convolution; }
  int64_t all() const { return words + positions + backbone() + head; }
};

// Of the tensors that such a model must have. The absolute table is among them where the embeddings add it or the mask
// decoder reads it; a copy of the word table that some files have is not. `labels`: C, of heads with classes.
ParameterCounts count_parameters(const ModelConfig& config, const HeadFacts& head, int64_t labels);

// The head that config.json names; without a name that of masked words, as in pre-training.
const HeadFacts& head_of_config(const ModelConfig& config);

}  // namespace deberta
