// Required members of a JSON object in a data file, with an error message for a missing or wrong one.
#pragma once
#include <string>
#include <string_view>

#include "base/json.h"

namespace deberta {

// The member of an object. Throws kInput when it is missing or `is_right` says no.
const Json& json_member(const Json& object, std::string_view key, bool (Json::*is_right)() const,
                        std::string_view expected, const std::string& where);

// A value that was found under `key`: throws what json_member() throws.
const std::string& text_value(const Json& value, std::string_view key, const std::string& where);

// The keys of an object, for messages: "id, text".
std::string key_list(const Json& object);

const std::string& text_member(const Json& object, std::string_view key, const std::string& where);
const JsonArray& array_member(const Json& object, std::string_view key, const std::string& where);
int64_t integer_member(const Json& object, std::string_view key, const std::string& where);

}  // namespace deberta
