// Looks a member up and says what is wrong with it.
#include "data/json_members.h"

#include <fmt/format.h>

#include <vector>

#include "deberta/error.h"

namespace deberta {
namespace {

const Json& json_value(const Json& value, std::string_view key, bool (Json::*is_right)() const,
                       std::string_view expected, const std::string& where) {
  if ((value.*is_right)()) return value;
  throw Error(ErrorCode::kInput, where, fmt::format("{}: expected {}, got {}", key, expected, value.describe()));
}

}  // namespace

const Json& json_member(const Json& object, std::string_view key, bool (Json::*is_right)() const,
                        std::string_view expected, const std::string& where) {
  const Json* value = object.find(key);
  if (value == nullptr) throw Error(ErrorCode::kInput, where, fmt::format("no {}", key));
  return json_value(*value, key, is_right, expected, where);
}

const std::string& text_value(const Json& value, std::string_view key, const std::string& where) {
  return json_value(value, key, &Json::is_string, "a string", where).as_string();
}

std::string key_list(const Json& object) {
  std::vector<std::string_view> keys;
  for (const JsonMember& member : object.as_object()) keys.push_back(member.first);
  return fmt::format("{}", fmt::join(keys, ", "));
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
