// The feed-forward block of a layer (model.md#encoder-layer):
//   h = LN( dropout( act(a W1 + b1) W2 + b2 ) + a )
// block.h has the other order of the norm. With feed_forward_dropout what act() gives is dropped too, in training.
// N rows  D hidden  F feed-forward
#pragma once
#include "train/model/pass.h"

namespace deberta::train {

struct FeedForward {
  Linear intermediate, output;
  Norm norm;
};
void visit(FeedForward& feed_forward, const ModelForm& form, const std::string& layer_name, const Visit& each);

at::Tensor apply_feed_forward(const Pass& pass, const FeedForward& feed_forward, const at::Tensor& a_ND,
                              const Rows& rows, size_t layer);

}  // namespace deberta::train
