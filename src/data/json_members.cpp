// Looks a member up and says what is wrong with it.
#include "data/json_members.h"

#include <fmt/format.h>

#include "deberta/error.h"

namespace deberta {

const Json& json_member(const Json& object, std::string_view key, bool (Json::*is_right)() const,
                        std::string_view expected, const std::string& where) {
  const Json* value = object.find(key);
  if (value == nullptr) throw Error(ErrorCode::kInput, where, fmt::format("no {}", key));
  if (!(value->*is_right)())
    throw Error(ErrorCode::kInput, where, fmt::format("{}: expected {}, got {}", key, expected, value->describe()));
  return *value;
}

const std::string& text_member(const Json& object, std::string_view key, const std::string& where) {
  return json_member(object, key, &Json::is_string, "a string", where).as_string();
}
const JsonArray& array_member(const Json& object, std::string_view key, const std::string& where) {
  return json_member(object, key, &Json::is_array, "an array", where).as_array();
}
int64_t integer_member(const Json& object, std::string_view key, const std::string& where) {
  return json_member(object, key, &Json::is_integer, "an integer", where).as_integer();
}

}  // namespace deberta
