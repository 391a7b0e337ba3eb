#include "train/ablation/flops.h"

#include <algorithm>

namespace deberta::train {

double training_flops_per_token(const ModelConfig& config, double length, double predicted) {
  const auto count = [](int64_t number) { return static_cast<double>(number); };
  const double layers = count(config.num_hidden_layers), hidden = count(config.hidden_size);
  const double rows = std::min(2 * count(config.span()), 2 * length);  // of the table that a sequence reads
  double terms = 0;
  for (const bool has_term : {config.has_c2p, config.has_p2c, config.has_p2p})
    terms += config.relative_attention && has_term ? 1 : 0;
  // Of a layer: keys and values, and what each query costs.
  const double keys = 2 * hidden * hidden;
  const double query =
      2 * hidden * hidden + 2 * hidden * count(config.intermediate_size) + 2 * length * hidden + terms * rows * hidden;
  const double convolution = count(config.conv_kernel_size) * hidden * hidden;
  if (predicted == 0) return 3 * 2 * (layers * (keys + query) + convolution);
  // The last layer, or each of the decoder's own, is computed for the tokens to predict.
  const bool has_decoder = !config.position_biased_input && !config.is_causal && config.mask_decoder_passes > 0;
  const double passes = has_decoder ? count(config.mask_decoder_passes) : 1;
  const bool has_own = has_decoder && config.has_own_decoder;
  const double whole = has_own ? layers : layers - 1, last = has_own ? passes : 1;
  const double head = predicted * (hidden * hidden + hidden * count(config.vocab_size));
  return 3 * 2 * (whole * (keys + query) + last * keys + passes * predicted * query + convolution + head);
}

}  // namespace deberta::train
