// The heads of entities (model-heads.md#entities): what they load, and the scores of labels for spans of words, or for
// words.
// B sequences  W words  C labels  U columns of words and labels  H columns of an LSTM's direction, U / 2
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/pass.h"
#include "engine/workspace.h"

namespace deberta {

HeadWeights load_entity_spans(WeightLoader& loader);
HeadWeights load_entity_words(WeightLoader& loader);
void compute_entity_spans(const Pass& pass, const Workspace& space, ForwardResult& result);
void compute_entity_words(const Pass& pass, const Workspace& space, ForwardResult& result);

// How much is asked of a pass, over all of its sequences: the sizes of its buffers (EntityBuffers).
struct EntityShape {
  size_t labels = 0, words = 0;
  size_t pieces = 0;      // that words are made of: one of each, or all
  size_t scores = 0;      // numbers of the logits
  size_t most_pairs = 0;  // words with labels that are multiplied at once; heads on words
  size_t most_ends = 0;   // words times labels of one sequence; marker
  size_t columns = 0;     // U
};
EntityShape entity_shape(const Pass& pass);

}  // namespace deberta
