// The forms of labels, and the sets.
#include "pipeline/entity_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "deberta/error.h"

namespace deberta {
namespace {

[[noreturn]] void refuse_label(const std::string& where, const std::string& expected, const Json& value) {
  throw Error(ErrorCode::kInput, where, fmt::format("labels: expected {}, got {}", expected, value.describe()));
}

std::vector<EntityLabel> split_labels(std::string_view text) {
  std::vector<EntityLabel> labels;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string name(strip(text.substr(0, comma)));
    if (!name.empty()) labels.push_back(entity_label(name));
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return labels;
}

// A member of an object, as a text; empty: none.
std::string text_of_key(const Json& object, const char* key, const std::string& where) {
  const Json* value = object.find(key);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_string()) refuse_label(where, fmt::format("a text as {}", key), *value);
  return value->as_string();
}

EntityLabel label_of_object(const Json& object, const std::string& where) {
  if (object.find("label") == nullptr) refuse_label(where, "objects with the key \"label\"", object);
  EntityLabel label = entity_label(text_of_key(object, "label", where), text_of_key(object, "description", where));
  const Json* threshold = object.find("threshold");
  if (threshold == nullptr || threshold->is_null()) return label;
  if (!threshold->is_number()) refuse_label(where, "a number from 0 to 1 as threshold", *threshold);
  label.threshold = threshold->as_number();
  if (!(*label.threshold >= 0 && *label.threshold <= 1))
    refuse_label(where, "a number from 0 to 1 as threshold", *threshold);
  return label;
}

EntityLabel label_of_item(const Json& item, const std::string& where) {
  if (item.is_string()) return entity_label(item.as_string());
  if (!item.is_object()) refuse_label(where, "texts or objects", item);
  return label_of_object(item, where);
}

// What presidio calls the kinds of personal data, with the labels that models of GLiNER were trained on.
constexpr std::array<LabelPreset::Row, 22> kPersonalData = {{{"PERSON", "person"},
                                                             {"EMAIL_ADDRESS", "email"},
                                                             {"PHONE_NUMBER", "phone number"},
                                                             {"LOCATION", "address"},
                                                             {"ORGANIZATION", "organization"},
                                                             {"DATE_TIME", "date of birth"},
                                                             {"NRP", "nationality"},
                                                             {"CREDIT_CARD", "credit card number"},
                                                             {"IBAN_CODE", "iban"},
                                                             {"US_BANK_NUMBER", "bank account number"},
                                                             {"CRYPTO", "cryptocurrency wallet"},
                                                             {"IP_ADDRESS", "ip address"},
                                                             {"MAC_ADDRESS", "mac address"},
                                                             {"URL", "url"},
                                                             {"US_SSN", "social security number"},
                                                             {"US_PASSPORT", "passport number"},
                                                             {"US_DRIVER_LICENSE", "driver's license number"},
                                                             {"US_ITIN", "tax identification number"},
                                                             {"MEDICAL_LICENSE", "medical license number"},
                                                             {"ID", "identity card number"},
                                                             {"USERNAME", "username"},
                                                             {"PASSWORD", "password"}}};
constexpr std::array kPresets = {LabelPreset{"pii", kPersonalData}};

}  // namespace

EntityLabel entity_label(std::string name, std::string_view description) {
  std::string text(description.empty() ? std::string_view(name) : description);
  return {std::move(name), std::move(text)};
}

std::vector<EntityLabel> read_entity_labels(const Json& value, const std::string& where) {
  if (value.is_string()) return split_labels(value.as_string());
  std::vector<EntityLabel> labels;
  if (value.is_array()) {
    for (const Json& item : value.as_array()) labels.push_back(label_of_item(item, where));
    return labels;
  }
  if (!value.is_object()) refuse_label(where, "a list, or an object of descriptions", value);
  for (const auto& [name, description] : value.as_object()) {
    if (!description.is_string() && !description.is_null()) refuse_label(where, "a text as description", description);
    labels.push_back(entity_label(name, description.is_null() ? std::string_view() : description.as_string()));
  }
  return labels;
}

std::span<const LabelPreset> label_presets() {
  return kPresets;
}

std::vector<EntityLabel> preset_labels(std::string_view name) {
  std::vector<EntityLabel> labels;
  const auto preset = std::ranges::find(kPresets, name, &LabelPreset::name);
  if (preset == std::ranges::end(kPresets)) return labels;
  for (const LabelPreset::Row& row : preset->rows)
    labels.push_back({.name = std::string(row.name), .text = std::string(row.text)});
  return labels;
}

}  // namespace deberta
