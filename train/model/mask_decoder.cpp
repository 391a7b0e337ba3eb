// The loop over passes; keys and values are projected once from h, and again only for a layer of its own.
#include "train/model/mask_decoder.h"

#include <ATen/TensorOperators.h>

#include "train/ops/embedding.h"

namespace deberta::train {

std::vector<at::Tensor> decode_masked(const Pass& pass, const Encoder& encoder, const at::Tensor& position_PE,
                                      const EncoderStates& states, std::span<const int32_t> rows_P) {
  const at::Tensor& h_TD = states.hidden_TD.back();
  const bool has_own = !encoder.decoder_layers.empty();
  KeysValues keys;  // computed from h, once for all passes of one layer
  const at::Tensor positions_P = take_rows(pass.position_ids_T, rows_P);
  QueryStates queries{embedding(pass.compute, position_PE, positions_P) + take_rows(h_TD, rows_P),
                      choose_rows(*pass.tokens, rows_P)};
  std::vector<at::Tensor> decoded;
  for (size_t k = 0; k < static_cast<size_t>(pass.form.config.mask_decoder_passes); ++k) {
    const size_t number = layers_before_decoder(encoder) + k;
    const Layer& layer = has_own ? encoder.decoder_layers[k] : encoder.layers.back();
    if (k == 0 || has_own) keys = project_keys_values(pass, layer.attention, h_TD);
    queries.y_ND = query_layer(pass, layer, queries, keys, states.relative_RD, number);
    decoded.push_back(queries.y_ND);
  }
  decoded.back() = finish(pass, encoder, decoded.back());
  return decoded;
}

}  // namespace deberta::train
