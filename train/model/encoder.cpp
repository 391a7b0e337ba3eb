// Runs the layers in order, the convolution beside or before the first one, recomputing activations where asked.
#include "train/model/encoder.h"

#include "train/model/recompute.h"

namespace deberta::train {

void visit(Encoder& encoder, const ModelForm& form, const Visit& each) {
  visit(encoder.relative, form, each);
  if (form.config.norm_first) visit(encoder.final_norm, "encoder.final_LayerNorm", form.config.hidden_size, each);
  visit(encoder.convolution, form, each);
  encoder.layers.resize(static_cast<size_t>(form.config.num_hidden_layers));
  for (size_t n = 0; n < encoder.layers.size(); ++n) {
    if (n == 0 || !form.config.shares_layers) {
      visit(encoder.layers[n], form, "encoder.layer." + std::to_string(n), each);
    } else {
      encoder.layers[n] = encoder.layers[0];
    }
  }
  encoder.decoder_layers.resize(form.has_mask_decoder() ? static_cast<size_t>(form.config.decoder_layers()) : 0);
  for (size_t k = 0; k < encoder.decoder_layers.size(); ++k) {
    visit(encoder.decoder_layers[k], form, "encoder.layer." + std::to_string(encoder.layers.size() + k), each);
  }
}

namespace {

// One use of a layer that others are too: its gradients are added up before they leave it, recomputed or not.
Layer enter_shared(const Pass& pass, const Layer& layer) {
  Layer used = layer;
  if (!pass.form.config.shares_layers) return used;
  visit(used, pass.form, "", [](const ParameterSpec&, at::Tensor& tensor) { tensor = enter_layer(tensor); });
  return used;
}

}  // namespace

EncoderStates encode(const Pass& pass, const Encoder& encoder, const at::Tensor& h0_TD, size_t layers) {
  const bool has_convolution = encoder.convolution.weight_DCW.defined();
  const bool is_at_input = has_convolution && pass.form.config.convolves_input;
  EncoderStates states{{is_at_input ? add_convolution(pass, encoder.convolution, h0_TD, h0_TD) : h0_TD},
                       relative_table(pass, encoder.relative)};
  for (size_t n = 0; n < layers; ++n) {
    const auto& run = pass.compute.recomputes_layers ? recomputed_layer : encoder_layer;
    at::Tensor h_TD = run(pass, enter_shared(pass, encoder.layers[n]), states.hidden_TD.back(), states.relative_RD, n);
    if (n == 0 && has_convolution && !is_at_input) {
      h_TD = add_convolution(pass, encoder.convolution, h0_TD, h_TD);
    }
    states.hidden_TD.push_back(n + 1 == encoder.layers.size() ? finish(pass, encoder, h_TD) : h_TD);
  }
  return states;
}

}  // namespace deberta::train
