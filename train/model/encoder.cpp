#include "train/model/encoder.h"

#include "train/model/recompute.h"

namespace deberta::train {

void visit(Encoder& encoder, const ModelForm& form, const Visit& each) {
  visit(encoder.relative, form, each);
  visit(encoder.convolution, form, each);
  encoder.layers.resize(static_cast<size_t>(form.config.num_hidden_layers));
  for (size_t n = 0; n < encoder.layers.size(); ++n) {
    visit(encoder.layers[n], form, "encoder.layer." + std::to_string(n), each);
  }
}

EncoderStates encode(const Pass& pass, const Encoder& encoder, const at::Tensor& h0_TD, size_t layers) {
  EncoderStates states{{h0_TD}, relative_table(pass, encoder.relative)};
  for (size_t n = 0; n < layers; ++n) {
    const auto& run = pass.compute.recomputes_layers ? recomputed_layer : encoder_layer;
    at::Tensor h_TD = run(pass, encoder.layers[n], states.hidden_TD.back(), states.relative_RD, n);
    if (n == 0 && encoder.convolution.weight_DCW.defined()) {
      h_TD = add_convolution(pass, encoder.convolution, h0_TD, h_TD);
    }
    states.hidden_TD.push_back(h_TD);
  }
  return states;
}

}  // namespace deberta::train
