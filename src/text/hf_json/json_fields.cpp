// Look-ups that throw kTokenizerFile with the component's place in the file.
#include "text/hf_json/json_fields.h"

#include <fmt/format.h>

#include "base/file.h"
#include "deberta/error.h"

namespace deberta {
namespace {

const Json& field(const Json& object, std::string_view key, const std::string& where) {
  const Json* value = object.find(key);
  if (value == nullptr) refuse_tokenizer_file(where, fmt::format("expected {}, got none", key));
  return *value;
}

[[noreturn]] void refuse_kind(std::string_view key, std::string_view expected, const Json& got,
                              const std::string& where) {
  refuse_tokenizer_file(where, fmt::format("{}: expected {}, got {}", key, expected, got.describe()));
}

}  // namespace

void refuse_tokenizer_file(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kTokenizerFile, where, message);
}

Json load_settings_object(const std::string& path, JsonWarnings warnings) {
  if (!is_regular_file(path)) return JsonObject{};
  Json document = load_python_json(path, kSettingsLimits, warnings);
  if (!document.is_object())
    refuse_tokenizer_file(path, fmt::format("expected an object, got {}", document.describe()));
  return document;
}

void refuse_component(std::string_view type, const std::string& where) {
  throw Error(ErrorCode::kUnsupported, where,
              fmt::format("{} is not supported; no known DeBERTa tokenizer uses it", quote_json(type)));
}

void refuse_pattern(std::string_view regex, const std::string& where) {
  throw Error(ErrorCode::kUnsupported, where,
              fmt::format("the pattern {} is unknown; regular expressions are recognised by their text, never run",
                          quote_json(regex)));
}

const std::string& component_type(const Json& component, const std::string& where) {
  if (!component.is_object())
    refuse_tokenizer_file(where, fmt::format("expected an object or null, got {}", component.describe()));
  return string_field(component, "type", where);
}

const JsonArray& array_field(const Json& object, std::string_view key, const std::string& where) {
  const Json& value = field(object, key, where);
  if (!value.is_array()) refuse_kind(key, "a list", value, where);
  return value.as_array();
}

const std::string& string_field(const Json& object, std::string_view key, const std::string& where) {
  const Json& value = field(object, key, where);
  if (!value.is_string()) refuse_kind(key, "a string", value, where);
  return value.as_string();
}

bool bool_field(const Json& object, std::string_view key, const std::string& where) {
  const Json& value = field(object, key, where);
  if (!value.is_bool()) refuse_kind(key, "true or false", value, where);
  return value.as_bool();
}

bool bool_field(const Json& object, std::string_view key, bool fallback, const std::string& where) {
  const Json* value = object.find(key);
  return value == nullptr || value->is_null() ? fallback : bool_field(object, key, where);
}

std::vector<const Json*> components_of(const Json& value, std::string_view list_key, const std::string& where) {
  std::vector<const Json*> components;
  std::vector<const Json*> waiting;
  if (!value.is_null()) waiting.push_back(&value);
  while (!waiting.empty()) {
    const Json& component = *waiting.back();
    waiting.pop_back();
    if (component_type(component, where) != "Sequence") {
      components.push_back(&component);
      continue;
    }
    const JsonArray& parts = array_field(component, list_key, where);
    for (size_t i = parts.size(); i-- > 0;) waiting.push_back(&parts[i]);
  }
  return components;
}

Pattern pattern_field(const Json& object, const std::string& where) {
  const Json& value = field(object, "pattern", where);
  if (!value.is_object() || value.as_object().size() != 1)
    refuse_kind("pattern", "an object with String or Regex", value, where);
  const auto& [kind, text] = value.as_object().front();
  if ((kind != "String" && kind != "Regex") || !text.is_string())
    refuse_kind("pattern", "an object with String or Regex", value, where);
  return {kind == "Regex", text.as_string()};
}

}  // namespace deberta
