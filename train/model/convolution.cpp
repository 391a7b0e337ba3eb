// Convolution, dropout, activation, then residual, norm and mask, in this order.
#include "train/model/convolution.h"

#include "heads/kernel_names.h"
#include "train/ops/activation.h"
#include "train/ops/convolution.h"
#include "train/ops/dropout.h"

namespace deberta::train {

void visit(Convolution& v, const ModelForm& form, const Visit& each) {
  const ModelConfig& c = form.config;
  if (c.conv_kernel_size <= 0) return;
  each({"encoder.conv.conv.weight", {c.hidden_size, c.hidden_size / c.conv_groups, c.conv_kernel_size}}, v.weight_DCW);
  each({"encoder.conv.conv.bias", {c.hidden_size}, Init::kZeros}, v.bias_D);
  visit(v.norm, "encoder.conv.LayerNorm", c.hidden_size, each);
}

at::Tensor add_convolution(const Pass& pass, const Convolution& v, const at::Tensor& h0_TD,
                           const at::Tensor& residual_TD) {
  const ModelConfig& c = pass.form.config;
  at::Tensor y = convolution(pass.compute, h0_TD, {v.weight_DCW, v.bias_D, c.conv_groups}, *pass.tokens);
  const Dropout drop = pass.dropout(RandomDomain::kConvolutionDropout, c.hidden_dropout_prob, 0);
  y = activate(pass.compute, dropout(pass.compute, y, drop, *pass.tokens), to_kernel(c.conv_act));
  const at::Tensor h_TD = add_norm(pass.compute, y, residual_TD, pass.norm(v.norm), {}, *pass.tokens);
  return mask_rows(pass.compute, h_TD, *pass.tokens);
}

}  // namespace deberta::train
