// The table of config.json's plain keys: name, other names, type and range, and the field that each one fills.
// Keys with a form of their own (pos_att_type, norm_rel_ebd, model_type, labels) are in model_config.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "config/model_config.h"

namespace deberta {

struct ConfigKey {
  using Field =
      std::variant<int64_t ModelConfig::*, double ModelConfig::*, bool ModelConfig::*, Activation ModelConfig::*>;

  std::string_view name;
  std::string_view alias;  // another name for the same; "pooling.dropout": the key "dropout" of the object "pooling"
  Field field;
  double low = 0;  // smallest and largest number allowed
  double high = 0;
  bool is_open_low = false;  // `low` itself is not allowed
  bool is_open_high = false;
  std::optional<int64_t> special{};  // one value allowed outside the range
  bool is_nullable = false;          // null counts as absent
};

std::span<const ConfigKey> config_keys();

// "an integer from 1 to 512", "true or false", "one of gelu, relu, ...".
std::string describe_expected(const ConfigKey& key);

// The member that `name` ("pooling.dropout": two steps) leads to, or nullptr.
const Json* find_config_value(const Json& document, std::string_view name);

// Fills the key's field from `value`. False when type or range is wrong; the field is then as before.
bool read_config_value(const ConfigKey& key, const Json& value, ModelConfig& config);

// Nothing when the name is unknown.
std::optional<Activation> parse_activation(std::string_view name);

}  // namespace deberta
