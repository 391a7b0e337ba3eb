// The encoder:
//   h_n = layer_n(h_{n-1})
//   h_1 = convolution(h_0, layer_1(h_0))   with a convolution
//   h_1 = layer_1(convolution(h_0, h_0))   with conv_at_input; the states then begin with what that layer reads
//   h_N = LN(layer_N(h_{N-1}))             with norm_first
// With share_layers all layers are one.
// T packed tokens  D hidden  R relative rows
#pragma once
#include <vector>

#include "train/model/convolution.h"
#include "train/model/layer.h"
#include "train/model/relative_position.h"

namespace deberta::train {

struct Encoder {
  RelativePosition relative;
  Convolution convolution;
  Norm final_norm;  // present with norm_first
  std::vector<Layer> layers;
  std::vector<Layer> decoder_layers;  // the mask decoder's own, one for each pass
};
void visit(Encoder& encoder, const ModelForm& form, const Visit& each);

struct EncoderStates {
  std::vector<at::Tensor> hidden_TD;  // h_0 .. h_n
  at::Tensor relative_RD;             // P', for layers computed later
};

// What heads read of the last layer or of the mask decoder.
inline at::Tensor finish(const Pass& pass, const Encoder& encoder, const at::Tensor& x_ND) {
  return pass.form.config.norm_first ? layer_norm(pass.compute, x_ND, pass.norm(encoder.final_norm)) : x_ND;
}

// The first `layers` layers.
EncoderStates encode(const Pass& pass, const Encoder& encoder, const at::Tensor& h0_TD, size_t layers);

}  // namespace deberta::train
