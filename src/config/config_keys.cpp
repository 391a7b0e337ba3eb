// The rows, and how a value is read by its row. The ranges bound what any later size computation can meet.
#include "config/config_keys.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace deberta {
namespace {

constexpr double kMaxWidth = 65536;
constexpr double kMaxInner = 1 << 20;
constexpr double kMaxPositions = 1 << 30;
constexpr double kMaxDistance = 0x1p53 - 1;  // only divided by: what a double holds
constexpr double kMaxVocabulary = 1 << 24;
constexpr double kMaxBuckets = 65536;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

using C = ModelConfig;

constexpr bool never(const C&, ConfigRules) {
  return false;
}
constexpr bool is_relative(const C& c, ConfigRules) {
  return c.relative_attention;
}
// DeBERTa v1 of transformers has no buckets.
constexpr bool has_buckets(const C& c, ConfigRules rules) {
  return c.relative_attention && (rules == ConfigRules::kOriginal || c.layout == Layout::kV2);
}
constexpr bool may_convolve(const C& c, ConfigRules rules) {
  return rules == ConfigRules::kOriginal || c.layout == Layout::kV2;
}
constexpr bool convolves(const C& c, ConfigRules rules) {
  return may_convolve(c, rules) && c.conv_kernel_size > 0;
}
constexpr bool reads_head_size(const C& c, ConfigRules rules) {
  return rules == ConfigRules::kOriginal || c.layout == Layout::kV2;
}
// The original's mask decoder reads the table of positions even when the embeddings do not.
constexpr bool reads_positions(const C& c, ConfigRules rules) {
  return rules == ConfigRules::kOriginal || c.position_biased_input ||
         (c.relative_attention && c.max_relative_positions < 1);
}

// To Python, true and false are numbers too.
std::optional<double> number_of(const Json& value) {
  if (value.is_number()) return value.as_number();
  if (value.is_bool()) return value.as_bool() ? 1 : 0;
  return std::nullopt;
}

// Python's `value > 0` is false; NaN included.
bool is_not_positive(const Json& value, const C&, ConfigRules) {
  const auto number = number_of(value);
  return number && !(*number > 0);
}
bool is_below_one(const Json& value, const C&, ConfigRules) {
  const auto number = number_of(value);
  return number && *number < 1;
}
// Python's `range(value)`, which DeBERTa v1 of transformers loops over; a float has none.
bool is_empty_range(const Json& value, const C& c, ConfigRules rules) {
  const bool is_integer = value.is_integer() || value.is_big_integer();
  return is_integer && value.as_number() < 0 && rules == ConfigRules::kHf && c.layout == Layout::kV1;
}
// DeBERTa v2 of transformers then puts no distances into buckets.
bool is_no_bound(const Json& value, const C& c, ConfigRules rules) {
  const bool is_zero = value.is_integer() ? value.as_integer() == 0 : value.is_bool() && !value.as_bool();
  return is_zero && rules == ConfigRules::kHf && c.layout == Layout::kV2;
}

constexpr ConfigKey count(std::string_view name, int64_t C::*field, double low, double high,
                          ConfigKey::Condition is_used = nullptr, std::string_view alias = {}) {
  return {.name = name, .alias = alias, .field = field, .low = low, .high = high, .is_used = is_used};
}
constexpr ConfigKey count_or_none(std::string_view name, int64_t C::*field, double low, double high,
                                  ConfigKey::Absence is_absent, int64_t absent,
                                  ConfigKey::Condition is_used = nullptr) {
  ConfigKey key = count(name, field, low, high, is_used);
  key.is_absent = is_absent;
  key.absent = absent;
  return key;
}
// Dropouts are for training.
constexpr ConfigKey dropout(std::string_view name, double C::*field, std::string_view alias = {}) {
  return {.name = name, .alias = alias, .field = field, .low = 0, .high = 1, .is_open_high = true, .is_used = never};
}
constexpr ConfigKey flag(std::string_view name, bool C::*field) {
  return {.name = name, .alias = {}, .field = field};
}
// A key that only this program knows: written where it is not the default.
constexpr ConfigKey own_flag(std::string_view name, bool C::*field) {
  return {.name = name, .alias = {}, .field = field, .is_written_out = false};
}
constexpr ConfigKey own_dropout(std::string_view name, double C::*field) {
  ConfigKey key = dropout(name, field);
  key.is_written_out = false;
  return key;
}
constexpr ConfigKey activation(std::string_view name, Activation C::*field, ConfigKey::Condition is_used = nullptr,
                               std::string_view alias = {}) {
  return {.name = name, .alias = alias, .field = field, .is_used = is_used};
}

constexpr std::array kKeys = {
    count("hidden_size", &C::hidden_size, 1, kMaxWidth),
    count_or_none("num_hidden_layers", &C::num_hidden_layers, 0, 256, is_empty_range, 0),
    count("num_attention_heads", &C::num_attention_heads, 1, 512),
    count("attention_head_size", &C::attention_head_size, 1, kMaxWidth, reads_head_size),
    count("intermediate_size", &C::intermediate_size, 1, kMaxInner),
    activation("hidden_act", &C::hidden_act),
    dropout("hidden_dropout_prob", &C::hidden_dropout_prob),
    dropout("attention_probs_dropout_prob", &C::attention_probs_dropout_prob),
    ConfigKey{.name = "layer_norm_eps", .alias = {}, .field = &C::layer_norm_eps, .low = 0, .high = kUnlimited},
    ConfigKey{.name = "initializer_range",
              .alias = {},
              .field = &C::initializer_range,
              .low = 0,
              .high = 10,
              .is_used = never},
    count("vocab_size", &C::vocab_size, 1, kMaxVocabulary),
    // Where padding is a token of its own it is masked: nothing reads its id.
    count("pad_token_id", &C::pad_token_id, 0, kMaxVocabulary - 1, never, "padding_idx"),
    count_or_none("max_position_embeddings", &C::max_position_embeddings, 1, kMaxPositions, is_no_bound, 0,
                  reads_positions),
    count_or_none("type_vocab_size", &C::type_vocab_size, 0, 1024, is_not_positive, 0),
    count("embedding_size", &C::embedding_size, 1, kMaxWidth),
    flag("position_biased_input", &C::position_biased_input),
    flag("relative_attention", &C::relative_attention),
    count_or_none("max_relative_positions", &C::max_relative_positions, 1, kMaxDistance, is_below_one, -1, is_relative),
    // One bucket would put the border between exact and logarithmic distances at 0, where the logarithm has no value.
    count_or_none("position_buckets", &C::position_buckets, 2, kMaxBuckets, is_not_positive, -1, has_buckets),
    flag("share_att_key", &C::share_att_key),
    count_or_none("conv_kernel_size", &C::conv_kernel_size, 0, 99, is_not_positive, 0, may_convolve),
    count("conv_groups", &C::conv_groups, 1, kMaxWidth, convolves),
    activation("conv_act", &C::conv_act, convolves),
    // The pooler is as wide as the hidden states, or its tensors are refused.
    count("pooler_hidden_size", &C::pooler_hidden_size, 1, kMaxWidth, never, "pooling.hidden_size"),
    dropout("pooler_dropout", &C::pooler_dropout, "pooling.dropout"),
    activation("pooler_hidden_act", &C::pooler_hidden_act, nullptr, "pooling.hidden_act"),
    dropout("cls_dropout", &C::cls_dropout, "cls_drop_out"),
    flag("talking_head", &C::talking_head),
    ConfigKey{.name = "mask_decoder_passes",
              .alias = {},
              .field = &C::mask_decoder_passes,
              .low = 0,
              .high = 3,
              .is_written_out = false},
    own_flag("tie_word_embeddings", &C::ties_output),
    own_flag("is_decoder", &C::is_causal),
    own_flag("norm_first", &C::norm_first),
    own_flag("scale_by_terms", &C::scales_by_terms),
    own_flag("share_layers", &C::shares_layers),
    own_flag("own_decoder_layers", &C::has_own_decoder),
    own_flag("fixed_relative_table", &C::has_fixed_distances),
    own_flag("conv_at_input", &C::convolves_input),
    own_dropout("feed_forward_dropout", &C::feed_forward_dropout),
};

struct ActivationName {
  std::string_view name;
  Activation activation;
};
// Names of transformers' ACT2FN and of the original; the first name of each is the one written. Not among them: prelu
// and xielu, which have weights of their own.
constexpr std::array kActivations = {
    ActivationName{"gelu", Activation::kGelu},
    ActivationName{"relu", Activation::kRelu},
    ActivationName{"swish", Activation::kSwish},
    ActivationName{"tanh", Activation::kTanh},
    ActivationName{"linear", Activation::kLinear},
    ActivationName{"sigmoid", Activation::kSigmoid},
    ActivationName{"silu", Activation::kSwish},
    ActivationName{"gelu_python", Activation::kGelu},
    ActivationName{"gelu_new", Activation::kGeluTanh},
    ActivationName{"gelu_fast", Activation::kGeluTanh},
    ActivationName{"gelu_pytorch_tanh", Activation::kGeluTanh},
    ActivationName{"gelu_python_tanh", Activation::kGeluTanh},
    ActivationName{"gelu_accurate", Activation::kGeluTanh},
    ActivationName{"quick_gelu", Activation::kQuickGelu},
    ActivationName{"gelu_10", Activation::kGelu10},
    ActivationName{"mish", Activation::kMish},
    ActivationName{"relu6", Activation::kRelu6},
    ActivationName{"relu2", Activation::kRelu2},
    ActivationName{"leaky_relu", Activation::kLeakyRelu},
    ActivationName{"laplace", Activation::kLaplace},
};

bool is_in_range(const ConfigKey& key, double value) {
  return value >= key.low && (key.is_open_high ? value < key.high : value <= key.high);  // false for NaN
}

bool read_field(const ConfigKey& key, int64_t C::*field, const Json& value, ConfigRules rules, C& config) {
  if (key.is_absent != nullptr && key.is_absent(value, config, rules)) {
    config.*field = key.absent;
    return true;
  }
  const auto whole = value.is_bool() ? std::optional<int64_t>(value.as_bool()) : value.whole_number();
  if (!whole || !is_in_range(key, static_cast<double>(*whole))) return false;
  config.*field = *whole;
  return true;
}

bool read_field(const ConfigKey& key, double C::*field, const Json& value, ConfigRules, C& config) {
  const auto number = number_of(value);
  if (!number || !is_in_range(key, *number)) return false;
  config.*field = *number;
  return true;
}

bool read_field(const ConfigKey&, bool C::*field, const Json& value, ConfigRules, C& config) {
  config.*field = value.is_truthy();
  return true;
}

bool read_field(const ConfigKey&, Activation C::*field, const Json& value, ConfigRules, C& config) {
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
    if (key.high == kUnlimited) return fmt::format("a number from {}", key.low);
    return fmt::format("a number from {} and {} {}", key.low, key.is_open_high ? "below" : "at most", key.high);
  }
  const std::string range = fmt::format("an integer from {:.0f} to {:.0f}", key.low, key.high);
  return key.is_absent != nullptr && key.absent < 0 ? fmt::format("{} or {}", key.absent, range) : range;
}

const Json* find_config_value(const Json& document, std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return document.find(name);
  const Json* parent = document.find(name.substr(0, dot));
  return parent == nullptr ? nullptr : parent->find(name.substr(dot + 1));
}

bool read_config_value(const ConfigKey& key, const Json& value, ConfigRules rules, ModelConfig& config) {
  return std::visit([&](auto field) { return read_field(key, field, value, rules, config); }, key.field);
}

}  // namespace deberta
