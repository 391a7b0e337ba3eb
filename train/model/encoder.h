// The encoder:  h_n = layer_n(h_{n-1});  with a convolution  h_1 = convolution(h_0, layer_1(h_0))
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
  std::vector<Layer> layers;
};
void visit(Encoder& encoder, const ModelForm& form, const Visit& each);

struct EncoderStates {
  std::vector<at::Tensor> hidden_TD;  // h_0 .. h_n
  at::Tensor relative_RD;             // P', for layers computed later
};

// The first `layers` layers.
EncoderStates encode(const Pass& pass, const Encoder& encoder, const at::Tensor& h0_TD, size_t layers);

}  // namespace deberta::train
