// Both linear layers as one operation, within the norm and residual of block.h.
#include "train/model/feed_forward.h"

#include "heads/kernel_names.h"
#include "train/model/block.h"
#include "train/ops/activation.h"
#include "train/ops/dropout.h"
#include "train/ops/feed_forward.h"
#include "train/ops/linear.h"

namespace deberta::train {
namespace {

// feed_forward() with dropout behind the activation, as operations of their own.
at::Tensor feed_forward_with_dropout(const Pass& pass, const at::Tensor& x_ND, const FeedForwardWeights& w,
                                     const Dropout& drop, const Rows& rows) {
  const at::Tensor before_NF = linear(pass.compute, x_ND, w.up_FD, w.up_bias_F);
  const at::Tensor after_NF = activate(pass.compute, before_NF, to_kernel(pass.form.config.hidden_act));
  return linear(pass.compute, dropout(pass.compute, after_NF, drop, rows), w.down_DF, w.down_bias_D);
}

}  // namespace

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
  const Dropout inner = pass.dropout(RandomDomain::kInnerDropout, c.feed_forward_dropout, layer);
  const at::Tensor x = inner.p > 0 ? feed_forward_with_dropout(pass, normed_ND, weights, inner, rows)
                                   : feed_forward(pass.compute, normed_ND, weights, to_kernel(c.hidden_act));
  const Dropout drop = pass.dropout(RandomDomain::kFeedForwardDropout, c.hidden_dropout_prob, layer);
  return leave_block(pass, f.norm, x, a_ND, drop, rows);
}

}  // namespace deberta::train
