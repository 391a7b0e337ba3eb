// Every tensor of the table, filled with normals whose seed is derived from its name.
#include "support/tiny_model.h"

#include <cmath>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_table.h"
#include "support/paths.h"
#include "support/random.h"

namespace deberta::test {
namespace {

uint64_t hash_of(std::string_view text) {  // FNV-1a
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::vector<float> values_of(const TensorSpec& spec, uint64_t seed) {
  size_t count = 1;
  for (const int64_t dimension : spec.shape) count *= static_cast<size_t>(dimension);
  const bool is_gamma = spec.name.ends_with("LayerNorm.weight");
  const bool is_table = spec.name.find("embeddings.weight") != std::string::npos;
  double deviation = 0.3;
  if (spec.shape.size() > 1) deviation = is_table ? 1.0 : 1.2 / std::sqrt(static_cast<double>(spec.shape.back()));
  return normals(hash_of(spec.name) ^ seed, count, deviation, is_gamma ? 1 : 0);
}

}  // namespace

void make_version_1(ModelConfig& config) {
  config.layout = Layout::kV1;
  config.share_att_key = config.has_rel_layer_norm = false;
  config.position_buckets = -1;
}

ModelConfig tiny_config() {
  ModelConfig c;
  c.hidden_size = c.embedding_size = c.pooler_hidden_size = 16;
  c.num_hidden_layers = 2;
  c.num_attention_heads = 2;
  c.attention_head_size = 8;
  c.intermediate_size = 24;
  c.vocab_size = 50;
  c.max_position_embeddings = 16;
  c.max_relative_positions = 16;
  c.position_buckets = 8;
  c.position_biased_input = false;
  c.relative_attention = true;
  c.has_c2p = c.has_p2c = true;
  c.share_att_key = true;
  c.has_rel_layer_norm = true;
  return c;
}

Json to_json(const ModelConfig& c) {
  std::string terms = c.has_c2p ? "c2p" : "";
  if (c.has_p2c) terms += terms.empty() ? "p2c" : "|p2c";
  if (c.has_p2p) terms += "|p2p";
  JsonObject o;
  const auto add = [&](const char* key, Json value) { o.emplace_back(key, std::move(value)); };
  add("model_type", c.layout == Layout::kV1 ? "deberta" : "deberta-v2");
  add("hidden_size", c.hidden_size);
  add("num_hidden_layers", c.num_hidden_layers);
  add("num_attention_heads", c.num_attention_heads);
  add("intermediate_size", c.intermediate_size);
  add("hidden_act", to_string(c.hidden_act));
  add("layer_norm_eps", c.layer_norm_eps);
  add("vocab_size", c.vocab_size);
  add("max_position_embeddings", c.max_position_embeddings);
  add("type_vocab_size", c.type_vocab_size);
  add("embedding_size", c.embedding_size);
  add("position_biased_input", c.position_biased_input);
  add("relative_attention", c.relative_attention);
  add("max_relative_positions", c.max_relative_positions);
  add("position_buckets", c.position_buckets);
  add("pos_att_type", terms.empty() ? "none" : terms);
  add("share_att_key", c.share_att_key);
  add("norm_rel_ebd", c.has_rel_layer_norm ? "layer_norm" : "none");
  add("conv_kernel_size", c.conv_kernel_size);
  add("conv_groups", c.conv_groups);
  add("conv_act", to_string(c.conv_act));
  add("pooler_hidden_size", c.pooler_hidden_size);
  add("pooler_hidden_act", to_string(c.pooler_hidden_act));
  if (c.classifier_pooling != ClassifierPooling::kFirst) add("classifier_pooling", to_string(c.classifier_pooling));
  if (c.is_causal) add("is_decoder", true);
  if (c.norm_first) add("norm_first", true);
  if (!c.scales_by_terms) add("scale_by_terms", false);
  if (c.shares_layers) add("share_layers", true);
  if (c.has_own_decoder) add("own_decoder_layers", true);
  if (c.has_fixed_distances) add("fixed_relative_table", true);
  if (c.convolves_input) add("conv_at_input", true);
  if (c.feed_forward_dropout > 0) add("feed_forward_dropout", c.feed_forward_dropout);
  if (c.mask_decoder_passes != 2) add("mask_decoder_passes", c.mask_decoder_passes);
  if (!c.labels.empty()) {
    JsonObject names;
    for (size_t i = 0; i < c.labels.size(); ++i) names.emplace_back(std::to_string(i), c.labels[i]);
    add("id2label", std::move(names));
  }
  return o;
}

void write_tiny_model(const std::string& folder, const ModelConfig& config, const HeadFacts& head, int64_t labels,
                      uint64_t seed) {
  const std::vector<TensorSpec> specs = list_tensors(config, head, labels);
  std::vector<std::vector<float>> values;
  std::vector<TensorView> tensors;
  for (const TensorSpec& spec : specs) values.push_back(values_of(spec, seed));
  for (size_t i = 0; i < specs.size(); ++i) {
    tensors.push_back({"deberta." + specs[i].name, DType::kF32, specs[i].shape, std::as_bytes(std::span(values[i]))});
    const bool is_encoder = specs[i].name.starts_with("embeddings.") || specs[i].name.starts_with("encoder.");
    if (!is_encoder) tensors.back().name = specs[i].name;
  }
  write_safetensors(folder + "/model.safetensors", tensors);
  write_text(folder + "/config.json", to_json(config).dump(1));
}

}  // namespace deberta::test
