#include "train/ablation/flops.h"

#include <algorithm>
#include <string>

namespace deberta::train {
namespace {

double number_of(const Json& config, const char* name, double otherwise) {
  const Json* value = config.find(name);
  return value != nullptr && value->is_number() ? value->as_number() : otherwise;
}

bool has_term(const Json& config, const char* term) {
  const Json* relative = config.find("relative_attention");
  if (relative == nullptr || !relative->is_truthy()) return false;
  const Json* types = config.find("pos_att_type");
  if (types == nullptr) return false;
  if (types->is_string()) return types->as_string().find(term) != std::string::npos;
  return types->is_array() && std::any_of(types->as_array().begin(), types->as_array().end(), [&](const Json& type) {
           return type.is_string() && type.as_string() == term;
         });
}

bool is_true(const Json& config, const char* name) {
  const Json* value = config.find(name);
  return value != nullptr && value->is_truthy();
}

bool has_decoder(const Json& config) {
  return !is_true(config, "position_biased_input") && !is_true(config, "is_decoder") &&
         number_of(config, "mask_decoder_passes", 2) > 0;
}

}  // namespace

double training_flops_per_token(const Json& config, double length, double predicted) {
  const double layers = number_of(config, "num_hidden_layers", 12), hidden = number_of(config, "hidden_size", 768);
  const double inner = number_of(config, "intermediate_size", 4 * hidden),
               vocabulary = number_of(config, "vocab_size", 0);
  double span = number_of(config, "position_buckets", -1);
  if (span <= 0) span = number_of(config, "max_relative_positions", -1);
  if (span <= 0) span = number_of(config, "max_position_embeddings", 512);
  const double rows = std::min(2 * span, 2 * length);  // of the table that a sequence reads
  // Of a layer: keys and values, and what each query costs.
  const double keys = 2 * hidden * hidden;
  double query = 2 * hidden * hidden + 2 * hidden * inner + 2 * length * hidden;
  for (const char* term : {"c2p", "p2c", "p2p"}) query += has_term(config, term) ? rows * hidden : 0;
  const double convolution = number_of(config, "conv_kernel_size", 0) * hidden * hidden;
  if (predicted == 0) return 3 * 2 * (layers * (keys + query) + convolution);
  // The last layer, or each of the decoder's own, is computed for the tokens to predict.
  const double passes = has_decoder(config) ? number_of(config, "mask_decoder_passes", 2) : 1;
  const bool has_own = has_decoder(config) && is_true(config, "own_decoder_layers");
  const double whole = has_own ? layers : layers - 1, last = has_own ? passes : 1;
  const double head = predicted * (hidden * hidden + hidden * vocabulary);
  return 3 * 2 * (whole * (keys + query) + last * keys + passes * predicted * query + convolution + head);
}

}  // namespace deberta::train
