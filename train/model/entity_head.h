// The heads of entities (model-heads.md#entities), which score labels that stand before the words of a text:
//   states   u = projection( h ), of labels and of pieces; a word is one of its pieces, their mean or maximum; an LSTM
//            over the words in both directions
//   span     q = label( u_label ), f = relu( start( u_first ) ), l = relu( end( u_last ) )
//            markerV0  q . out_3( drop( relu( out_0( [f; l] ) ) ) )        marker  q . out( [f; l] )
//   word     out_3( relu( drop( out_0( [t; c; t' * c'] ) ) ) ),  [t; t'] = token( u_word ), [c; c'] = label( u_label )
// label, start and end are two layers with drop( relu( . ) ) between them. As in the engine a layer behind a span is
// multiplied into the labels, and one before it is computed once for each word: nothing but a sum is left to do for a
// span.
// W words  C labels  S spans  U columns of words and labels  F inner columns  H columns of a direction of the LSTM
#pragma once
#include <array>
#include <span>
#include <vector>

#include "deberta/model.h"
#include "train/model/pass.h"

namespace deberta::train {

// Two layers; files call them .0 and .3.
struct TwoLayers {
  Linear first, second;
};

// One direction of a layer of the LSTM; gates in the order i, f, g, o.
struct LstmLayer {
  at::Tensor input_4HU, hidden_4HH, input_bias_4H, hidden_bias_4H;
};

// Which are there depends on the head and on its configuration.
struct EntityHead {
  Linear projection;
  std::vector<std::array<LstmLayer, 2>> rnn;  // by layer: forward, backward
  TwoLayers label, start, end;                // spans
  TwoLayers out;                              // spans of markerV0; words
  Linear out_linear;                          // spans of marker
  Linear token_parts, label_parts;            // words
};
void visit(EntityHead& head, const ModelForm& form, const Visit& each);

// As ForwardOptions::entities asks for them: [S * C, 1] of each sequence, one behind the other, or [W * C, 3].
at::Tensor entity_logits(const Pass& pass, const EntityHead& head, const at::Tensor& hidden_TD,
                         std::span<const LabelledWords> sequences);

}  // namespace deberta::train
