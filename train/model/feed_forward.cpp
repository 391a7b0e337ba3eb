// Both linear layers as one operation, within the norm and residual of block.h.
#include "train/model/feed_forward.h"

#include "heads/kernel_names.h"
#include "train/model/block.h"
#include "train/ops/feed_forward.h"

namespace deberta::train {

void visit(FeedForward& f, const ModelForm& form, const std::string& layer_name, const Visit& each) {
  const ModelConfig& c = form.config;
  visit(f.intermediate, {layer_name + ".intermediate.dense", c.hidden_size, c.intermediate_size}, each);
  visit(f.output, {layer_name + ".output.dense", c.intermediate_size, c.hidden_size}, each);
  visit(f.norm, layer_name + ".output.LayerNorm", c.hidden_size, each);
}

at::Tensor apply_feed_forward(const Pass& pass, const FeedForward& f, const at::Tensor& a_ND, const Rows& rows,
                              size_t layer) {
  const ModelConfig& c = pass.form.config;
  const FeedForwardWeights weights{f.intermediate.weight_OI, f.intermediate.bias_O, f.output.weight_OI,
                                   f.output.bias_O};
  const at::Tensor normed_ND = enter_block(pass, f.norm, a_ND);
  const at::Tensor x = feed_forward(pass.compute, normed_ND, weights, to_kernel(c.hidden_act));
  const Dropout drop = pass.dropout(RandomDomain::kFeedForwardDropout, c.hidden_dropout_prob, layer);
  return leave_block(pass, f.norm, x, a_ND, drop, rows);
}

}  // namespace deberta::train
