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

  // Whether inference with this configuration reads the key. A wrong value that it does not read is ignored.
  using Condition = bool (*)(const ModelConfig&, ConfigRules);
  // Whether this value means that there is none.
  using Absence = bool (*)(const Json&, const ModelConfig&, ConfigRules);

  std::string_view name;
  std::string_view alias;  // another name for it in the original's files; "pooling.dropout": the key "dropout"
                           // in the object "pooling"
  Field field;
  double low = 0;  // smallest and largest number allowed
  double high = 0;
  bool is_open_high = false;  // `high` itself is not allowed
  Absence is_absent = nullptr;
  int64_t absent = 0;           // what such a value is read as
  Condition is_used = nullptr;  // always
  bool is_written_out = true;   // false: all programs have the same default
};

std::span<const ConfigKey> config_keys();

// "an integer from 1 to 512", "true or false", "one of gelu, relu, ...".
std::string describe_expected(const ConfigKey& key);

// The member that `name` ("pooling.dropout": two steps) leads to, or nullptr.
const Json* find_config_value(const Json& document, std::string_view name);

// Fills the key's field from `value` as Python does: 512.0 is 512, a flag has Python's truth value. False when
// type or range is wrong; the field is then as before.
bool read_config_value(const ConfigKey& key, const Json& value, ConfigRules rules, ModelConfig& config);

// Nothing when the name is unknown.
std::optional<Activation> parse_activation(std::string_view name);

}  // namespace deberta
