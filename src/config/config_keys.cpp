// The rows, and how a value is read by its row. The ranges bound what any later size computation can meet.
#include "config/config_keys.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace deberta {
namespace {

constexpr double kMaxWidth = 65536;
constexpr double kMaxInner = 1 << 20;
constexpr double kMaxPositions = 1 << 20;
constexpr double kMaxVocabulary = 1 << 24;
constexpr double kMaxBuckets = 65536;

using C = ModelConfig;

constexpr ConfigKey count(std::string_view name, int64_t C::*field, double low, double high,
                          std::string_view alias = {}) {
  return {.name = name, .alias = alias, .field = field, .low = low, .high = high};
}
constexpr ConfigKey dropout(std::string_view name, double C::*field, std::string_view alias = {}) {
  return {.name = name, .alias = alias, .field = field, .low = 0, .high = 1, .is_open_high = true};
}
constexpr ConfigKey flag(std::string_view name, bool C::*field) {
  return {.name = name, .alias = {}, .field = field};
}
constexpr ConfigKey activation(std::string_view name, Activation C::*field, std::string_view alias = {}) {
  return {.name = name, .alias = alias, .field = field};
}

constexpr std::array kKeys = {
    count("hidden_size", &C::hidden_size, 1, kMaxWidth),
    count("num_hidden_layers", &C::num_hidden_layers, 0, 256),
    count("num_attention_heads", &C::num_attention_heads, 1, 512),
    count("attention_head_size", &C::attention_head_size, 1, kMaxWidth),
    count("intermediate_size", &C::intermediate_size, 1, kMaxInner),
    activation("hidden_act", &C::hidden_act),
    dropout("hidden_dropout_prob", &C::hidden_dropout_prob),
    dropout("attention_probs_dropout_prob", &C::attention_probs_dropout_prob),
    ConfigKey{.name = "layer_norm_eps",
              .alias = {},
              .field = &C::layer_norm_eps,
              .low = 0,
              .high = 1e-2,
              .is_open_low = true},
    ConfigKey{.name = "initializer_range", .alias = {}, .field = &C::initializer_range, .low = 0, .high = 10},
    count("vocab_size", &C::vocab_size, 1, kMaxVocabulary),
    ConfigKey{.name = "pad_token_id",
              .alias = "padding_idx",
              .field = &C::pad_token_id,
              .low = 0,
              .high = kMaxVocabulary - 1,
              .is_nullable = true},
    count("max_position_embeddings", &C::max_position_embeddings, 1, kMaxPositions),
    count("type_vocab_size", &C::type_vocab_size, 0, 1024),
    count("embedding_size", &C::embedding_size, 1, kMaxWidth),
    flag("position_biased_input", &C::position_biased_input),
    flag("relative_attention", &C::relative_attention),
    count("max_relative_positions", &C::max_relative_positions, -kMaxPositions, kMaxPositions),
    // One bucket would put the border between exact and logarithmic distances at 0, where the logarithm has no value.
    ConfigKey{.name = "position_buckets",
              .alias = {},
              .field = &C::position_buckets,
              .low = 2,
              .high = kMaxBuckets,
              .special = -1},
    flag("share_att_key", &C::share_att_key),
    count("conv_kernel_size", &C::conv_kernel_size, 0, 99),
    count("conv_groups", &C::conv_groups, 1, kMaxWidth),
    activation("conv_act", &C::conv_act),
    count("pooler_hidden_size", &C::pooler_hidden_size, 1, kMaxWidth, "pooling.hidden_size"),
    dropout("pooler_dropout", &C::pooler_dropout, "pooling.dropout"),
    activation("pooler_hidden_act", &C::pooler_hidden_act, "pooling.hidden_act"),
    ConfigKey{.name = "cls_dropout",
              .alias = "cls_drop_out",
              .field = &C::cls_dropout,
              .low = 0,
              .high = 1,
              .is_open_high = true,
              .is_nullable = true},
    flag("talking_head", &C::talking_head),
};

struct ActivationName {
  std::string_view name;
  Activation activation;
};
constexpr std::array kActivations = {
    ActivationName{"gelu", Activation::kGelu},     ActivationName{"relu", Activation::kRelu},
    ActivationName{"swish", Activation::kSwish},   ActivationName{"tanh", Activation::kTanh},
    ActivationName{"linear", Activation::kLinear}, ActivationName{"sigmoid", Activation::kSigmoid},
    ActivationName{"silu", Activation::kSwish},  // the later name of swish; the first name of each is the one written
};

bool is_in_range(const ConfigKey& key, double value) {
  const bool is_above = key.is_open_low ? value > key.low : value >= key.low;
  const bool is_below = key.is_open_high ? value < key.high : value <= key.high;
  return is_above && is_below;  // false for NaN
}

bool read_field(const ConfigKey& key, int64_t C::*field, const Json& value, ModelConfig& config) {
  if (!value.is_integer()) return false;
  const int64_t number = value.as_integer();
  if (number != key.special && !is_in_range(key, static_cast<double>(number))) return false;
  config.*field = number;
  return true;
}

bool read_field(const ConfigKey& key, double C::*field, const Json& value, ModelConfig& config) {
  if (!value.is_number() || !is_in_range(key, value.as_number())) return false;
  config.*field = value.as_number();
  return true;
}

bool read_field(const ConfigKey&, bool C::*field, const Json& value, ModelConfig& config) {
  if (!value.is_bool()) return false;
  config.*field = value.as_bool();
  return true;
}

bool read_field(const ConfigKey&, Activation C::*field, const Json& value, ModelConfig& config) {
  const auto parsed = value.is_string() ? parse_activation(value.as_string()) : std::nullopt;
  if (!parsed) return false;
  config.*field = *parsed;
  return true;
}

std::string describe_activations() {
  std::string text = "one of";
  for (const ActivationName& row : kActivations)
    text += fmt::format("{} \"{}\"", text == "one of" ? "" : ",", row.name);
  return text;
}

}  // namespace

std::span<const ConfigKey> config_keys() {
  return kKeys;
}

std::string_view to_string(Activation value) {
  for (const ActivationName& row : kActivations) {
    if (row.activation == value) return row.name;
  }
  return {};
}

std::optional<Activation> parse_activation(std::string_view name) {
  for (const ActivationName& row : kActivations) {
    if (row.name == name) return row.activation;
  }
  return std::nullopt;
}

std::string describe_expected(const ConfigKey& key) {
  if (std::holds_alternative<bool C::*>(key.field)) return "true or false";
  if (std::holds_alternative<Activation C::*>(key.field)) return describe_activations();
  if (std::holds_alternative<double C::*>(key.field)) {
    return fmt::format("a number {} {} and {} {}", key.is_open_low ? "above" : "from", key.low,
                       key.is_open_high ? "below" : "at most", key.high);
  }
  const std::string range = fmt::format("an integer from {:.0f} to {:.0f}", key.low, key.high);
  return key.special ? fmt::format("{} or {}", *key.special, range) : range;
}

const Json* find_config_value(const Json& document, std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return document.find(name);
  const Json* parent = document.find(name.substr(0, dot));
  return parent == nullptr ? nullptr : parent->find(name.substr(dot + 1));
}

bool read_config_value(const ConfigKey& key, const Json& value, ModelConfig& config) {
  return std::visit([&](auto field) { return read_field(key, field, value, config); }, key.field);
}

}  // namespace deberta
