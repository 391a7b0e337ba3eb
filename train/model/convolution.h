// The convolution of version 2 (nGiE, model.md#convolution), after the first layer only:
//   y   = conv(h_0), 0 at masked tokens
//   h_1 = LN( layer_1(h_0) + act(dropout(y)) ) * mask
// Its input is the embeddings' output, not the layer's. With conv_at_input it is before that layer:
//   h_1 = layer_1( LN( h_0 + act(dropout(y)) ) * mask )
// T packed tokens  D hidden
#pragma once
#include "train/model/pass.h"

namespace deberta::train {

struct Convolution {
  at::Tensor weight_DCW, bias_D;  // [D, D / groups, width]
  Norm norm;
};
void visit(Convolution& convolution, const ModelForm& form, const Visit& each);

at::Tensor add_convolution(const Pass& pass, const Convolution& convolution, const at::Tensor& h0_TD,
                           const at::Tensor& residual_TD);

}  // namespace deberta::train
