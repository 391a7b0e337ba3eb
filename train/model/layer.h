// One layer: attention, then feed-forward (attention.h and feed_forward.h have the equations); for every token, or for
// some query rows against the keys and values of all.
// N query rows  D hidden  R relative rows
#pragma once
#include "train/model/attention.h"
#include "train/model/feed_forward.h"

namespace deberta::train {

struct Layer {
  Attention attention;
  FeedForward feed_forward;
};
inline void visit(Layer& layer, const ModelForm& form, const std::string& name, const Visit& each) {
  visit(layer.attention, form, name, each);
  visit(layer.feed_forward, form, name, each);
}

// `number`: for dropout, from 0. relative_RD: P' (relative_position.h).
inline at::Tensor query_layer(const Pass& pass, const Layer& layer, const QueryStates& queries, const KeysValues& keys,
                              const at::Tensor& relative_RD, size_t number) {
  const at::Tensor a_ND = attend(pass, layer.attention, queries, keys, relative_RD, number);
  return apply_feed_forward(pass, layer.feed_forward, a_ND, *queries.rows, number);
}

// A node of its own in the graph: a layer's contributions to the gradient of `x` are added there before it leaves
// the layer.
inline at::Tensor enter_layer(const at::Tensor& x) {
  return x.defined() ? x.alias() : x;
}

inline at::Tensor encoder_layer(const Pass& pass, const Layer& layer, const at::Tensor& hidden_TD,
                                const at::Tensor& relative_RD, size_t number) {
  const at::Tensor a_TD =
      attend_to_itself(pass, layer.attention, enter_layer(hidden_TD), enter_layer(relative_RD), number);
  return apply_feed_forward(pass, layer.feed_forward, a_TD, *pass.tokens, number);
}

}  // namespace deberta::train
