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

}  // namespace

double training_flops_per_token(const Json& config, double length, double predicted) {
  const double layers = number_of(config, "num_hidden_layers", 12), hidden = number_of(config, "hidden_size", 768);
  const double inner = number_of(config, "intermediate_size", 4 * hidden),
               vocabulary = number_of(config, "vocab_size", 0);
  double span = number_of(config, "position_buckets", -1);
  if (span <= 0) span = number_of(config, "max_relative_positions", -1);
  if (span <= 0) span = number_of(config, "max_position_embeddings", 512);
  const double rows = std::min(2 * span, 2 * length);  // of the table that a sequence reads
  double products = 4 * hidden * hidden + 2 * hidden * inner + 2 * length * hidden;
  for (const char* term : {"c2p", "p2c"}) products += has_term(config, term) ? rows * hidden : 0;
  const double head = predicted * (hidden * hidden + hidden * vocabulary);
  return 3 * 2 * (layers * products + head);
}

}  // namespace deberta::train
