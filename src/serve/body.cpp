#include "serve/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "serve/api_error.h"

namespace deberta::serve {
namespace {

[[noreturn]] void refuse_at(const std::string& pointer, const std::string& message) {
  throw ApiError(ApiCode::kValidation, fmt::format("{}: {}", pointer.empty() ? "body" : pointer, message), pointer);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// One letter inserted, left out or changed.
bool is_one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() - b.size() > 1) return false;
  const size_t same = static_cast<size_t>(std::mismatch(b.begin(), b.end(), a.begin()).first - b.begin());
  return a.substr(same + 1) == b.substr(same + (a.size() == b.size() ? 1 : 0)) && a != b;
}

}  // namespace

Body::Body(const Json& object, std::string pointer, std::string_view tail)
    : json_(&object), pointer_(std::move(pointer)), tail_(tail) {
  if (!object.is_object()) refuse_at(pointer_, fmt::format("expected an object, got {}", object.describe()));
}

std::string Body::pointer_of(std::string_view name) const {
  return fmt::format("{}/{}", pointer_, name);
}

void Body::refuse(std::string_view name, const std::string& message) const {
  refuse_at(pointer_of(name), message);
}

void Body::refuse_missing(std::string_view name) const {
  static_cast<void>(unknown());  // a misspelt name says more
  refuse(name, "expected a value, got none");
}

const Json* Body::find(std::string_view name) {
  asked_.emplace(name);
  const Json* value = json_->find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<std::string> Body::text(std::string_view name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, fmt::format("expected a string, got {}", value->describe()));
  return value->as_string();
}

std::optional<bool> Body::flag(std::string_view name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) refuse(name, fmt::format("expected true or false, got {}", value->describe()));
  return value->as_bool();
}

std::optional<int64_t> Body::whole(std::string_view name, int64_t low, int64_t high) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_integer() || value->as_integer() < low || value->as_integer() > high)
    refuse(name, fmt::format("expected a whole number in {}..{}, got {}", low, high, value->describe()));
  return value->as_integer();
}

std::optional<double> Body::number(std::string_view name, double low, double high) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !(value->as_number() >= low && value->as_number() <= high))
    refuse(name, fmt::format("expected a number in {}..{}, got {}", low, high, value->describe()));
  return value->as_number();
}

std::optional<std::vector<std::string>> Body::texts(std::string_view name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return texts_of(*value, pointer_of(name));
}

std::optional<Body> Body::object(std::string_view name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return Body(*value, pointer_of(name));
}

std::optional<std::string> Body::choice(std::string_view name, const std::vector<std::string>& words) {
  const std::optional<std::string> given = text(name);
  if (!given) return std::nullopt;
  std::string word = lower(*given);
  if (std::find(words.begin(), words.end(), word) == words.end())
    refuse(name, fmt::format("expected {}, got {}", fmt::join(words, ", "), quote_json(*given)));
  return word;
}

std::vector<std::string> Body::unknown() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : json_->as_object()) {
    if (asked_.contains(name)) continue;
    for (const std::string& known : asked_) {
      if (json_->find(known) == nullptr && is_one_edit_apart(name, known))
        refuse(name, fmt::format("unknown field; did you mean {}?", known));
    }
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> texts_of(const Json& value, const std::string& pointer) {
  if (!value.is_array()) refuse_at(pointer, fmt::format("expected an array of strings, got {}", value.describe()));
  std::vector<std::string> texts;
  for (const Json& one : value.as_array()) {
    if (!one.is_string())
      refuse_at(fmt::format("{}/{}", pointer, texts.size()), fmt::format("expected a string, got {}", one.describe()));
    texts.push_back(one.as_string());
  }
  return texts;
}

}  // namespace deberta::serve
