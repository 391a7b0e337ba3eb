// The enhanced mask decoder, DeBERTa (He et al. 2021) section 3.2 (model.md#mask-decoder), on the rows to predict:
//   h   = h_{N-1}
//   q_0 = position[p] + h
//   q_k = layer_N(keys and values of h, query states q_{k-1})
// The last layer's weights serve every pass, instead of their ordinary use. With own_decoder_layers pass k has a layer
// of its own, and h = h_N.
// P rows to predict  T packed tokens  D hidden
#pragma once
#include <span>
#include <vector>

#include "train/model/encoder.h"

namespace deberta::train {

inline size_t layers_before_decoder(const Encoder& encoder) {
  return encoder.layers.size() - (encoder.decoder_layers.empty() ? 1 : 0);
}

// states: encode() of layers_before_decoder(). Returns q_1 .. q_passes; the head reads the last.
std::vector<at::Tensor> decode_masked(const Pass& pass, const Encoder& encoder, const at::Tensor& position_PE,
                                      const EncoderStates& states, std::span<const int32_t> rows_P);

}  // namespace deberta::train
