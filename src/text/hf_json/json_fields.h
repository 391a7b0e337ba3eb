// Members of the components of a tokenizer.json, each with the message for a wrong one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace deberta {

inline constexpr JsonLimits kSettingsLimits{.max_bytes = size_t{16} << 20, .max_depth = 16, .max_nodes = 1000000};

[[noreturn]] void refuse_tokenizer_file(const std::string& where, const std::string& message);  // kTokenizerFile
// An unsupported component or regular expression. Throw kUnsupported.
[[noreturn]] void refuse_component(std::string_view type, const std::string& where);
[[noreturn]] void refuse_pattern(std::string_view regex, const std::string& where);

// A settings file next to the tokenizer, read as Python reads it; an empty object if it does not exist.
Json load_settings_object(const std::string& path, JsonWarnings warnings = JsonWarnings::kSaid);

// The member "type" of a component. The others throw kTokenizerFile when the member is missing or of another kind.
const std::string& component_type(const Json& component, const std::string& where);
const JsonArray& array_field(const Json& object, std::string_view key, const std::string& where);
const std::string& string_field(const Json& object, std::string_view key, const std::string& where);
bool bool_field(const Json& object, std::string_view key, const std::string& where);
bool bool_field(const Json& object, std::string_view key, bool fallback, const std::string& where);  // null: fallback

// The components of a "Sequence" and of the sequences in it; any other component stands alone, null is none. `list_key`
// names the member of a sequence that holds its components.
std::vector<const Json*> components_of(const Json& value, std::string_view list_key, const std::string& where);

// The member "pattern": {"String": text} or {"Regex": text}. A regular expression is never run, only recognised.
struct Pattern {
  bool is_regex = false;
  std::string_view text;
};
Pattern pattern_field(const Json& object, const std::string& where);

}  // namespace deberta
