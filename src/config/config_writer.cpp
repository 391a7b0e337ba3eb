// Keys of the table by their rows; the others one by one.
#include "config/config_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "config/config_keys.h"
#include "config/labels.h"

namespace deberta {
namespace {

// A document with two models becomes the discriminator's, which is the one that is kept.
Json flatten(const Json& raw) {
  const Json* nested = raw.find("vocab_size") == nullptr ? raw.find("discriminator") : nullptr;
  if (nested == nullptr || !nested->is_object()) return raw;
  JsonObject members = nested->as_object();
  for (const JsonMember& member : raw.as_object()) {
    if (member.first != "discriminator" && nested->find(member.first) == nullptr) members.push_back(member);
  }
  return members;
}

Json value_of(const ConfigKey& key, const ModelConfig& config) {
  const auto to_json = [&](auto field) -> Json {
    if constexpr (std::is_same_v<decltype(field), Activation ModelConfig::*>) {
      return to_string(config.*field);
    } else {
      return config.*field;
    }
  };
  return std::visit(to_json, key.field);
}

std::string terms_of(const ModelConfig& config) {
  if (config.has_c2p && config.has_p2c) return "c2p|p2c";
  return config.has_c2p ? "c2p" : config.has_p2c ? "p2c" : "none";
}

}  // namespace

ConfigDocument::ConfigDocument(const ModelConfig& config) : document_(flatten(raw_document(config))) {}

bool ConfigDocument::has(std::string_view key) const {
  const Json* value = find_config_value(document_, key);
  return value != nullptr && !value->is_null();
}

void ConfigDocument::set(std::string_view key, Json value) {
  JsonObject& members = document_.as_object();
  const auto at =
      std::find_if(members.begin(), members.end(), [&](const JsonMember& member) { return member.first == key; });
  const std::string text = value.dump(0, JsonForm::kPython);
  if (at == members.end()) {
    changes_.push_back(fmt::format("{}: {} (was missing)", key, text));
    members.emplace_back(std::string(key), std::move(value));
  } else if (at->second.dump(0, JsonForm::kPython) != text) {
    changes_.push_back(fmt::format("{}: {} (was {})", key, text, at->second.describe()));
    at->second = std::move(value);
  }
}

void ConfigDocument::write_out_table(const ModelConfig& config) {
  for (const ConfigKey& key : config_keys()) {
    if (has(key.name) || !key.is_written_out) continue;
    const bool has_alias = !key.alias.empty() && has(key.alias);
    set(key.name, has_alias ? *find_config_value(document_, key.alias) : value_of(key, config));
  }
}

// Labels with a repeated name have no label2id. A count beside names is theirs, whatever the file says.
void ConfigDocument::write_out_labels(const ModelConfig& config) {
  const auto named = static_cast<int64_t>(config.labels.size());
  const Json* count = document_.find("num_labels");
  if (named > 0 && count != nullptr && count->is_integer() && count->as_integer() != named) set("num_labels", named);
  const bool are_different =
      std::set<std::string_view>(config.labels.begin(), config.labels.end()).size() == config.labels.size();
  const bool is_wrong = document_.find("label2id") == nullptr || !parse_labels(document_).warnings.empty();
  if (config.labels.empty() || !are_different || !is_wrong) return;
  JsonObject ids;
  for (size_t id = 0; id < config.labels.size(); ++id) ids.emplace_back(config.labels[id], static_cast<uint64_t>(id));
  set("label2id", std::move(ids));
}

void ConfigDocument::write_out(const ModelConfig& config) {
  if (!has("model_type")) set("model_type", to_string(config.layout));
  write_out_table(config);
  // null names no terms, to this program and to others; a missing key means c2p to the original and none to others.
  // DeBERTa v1 of transformers counts the names for its scale, and would count "none".
  const bool has_no_terms = !config.has_c2p && !config.has_p2c;
  if (config.layout == Layout::kV1 && has_no_terms) {
    set("pos_att_type", JsonArray{});
  } else if (document_.find("pos_att_type") == nullptr) {
    set("pos_att_type", terms_of(config));
  }
  if (!has("norm_rel_ebd")) set("norm_rel_ebd", config.has_rel_layer_norm ? "layer_norm" : "none");
  write_out_labels(config);
}

}  // namespace deberta
