// Typed readers of fields, the pointers of their errors, and the search for names that are one edit off.
#include "serve/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/checked.h"
#include "deberta/error.h"
#include "serve/api_error.h"
#include "serve/fields.h"
#include "serve/http.h"

namespace deberta::serve {
namespace {

// A name as a part of a JSON pointer.
std::string escaped(std::string_view name) {
  std::string part;
  for (const char c : name) part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return part;
}

// Whether one letter is inserted, left out or changed.
bool is_one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() - b.size() > 1) return false;
  const size_t same = static_cast<size_t>(std::mismatch(b.begin(), b.end(), a.begin()).first - b.begin());
  return a.substr(same + 1) == b.substr(same + (a.size() == b.size() ? 1 : 0)) && a != b;
}

// Throws kInternal for a field of another type: the route's reader does not fit it.
void expect(const Field& field, ParameterType type) {
  if (field.type() != type) throw Error(ErrorCode::kInternal, std::string(field.name), "the field is of another kind");
}

}  // namespace

void Body::refuse_at(const std::string& pointer, const std::string& message) {
  throw ApiError(ApiCode::kValidation, fmt::format("{}: {}", pointer.empty() ? "body" : pointer, message), pointer);
}

Body::Body(const Json& object, std::string pointer, std::string_view tail)
    : record_(std::make_shared<Record>(Record{&object, std::move(pointer)})), tail_(tail) {
  if (!object.is_object()) refuse_at(record_->pointer, fmt::format("expected an object, got {}", object.describe()));
}

std::string Body::pointer_of(std::string_view name) const {
  return fmt::format("{}/{}", record_->pointer, escaped(name));
}

void Body::refuse(std::string_view name, const std::string& message) const {
  refuse_at(pointer_of(name), message);
}

void Body::refuse_missing(std::string_view name) const {
  static_cast<void>(unknown());  // a misspelt name says more
  refuse(name, "expected a value, got none");
}

const Json* Body::find(std::string_view name) {
  record_->asked.emplace(name);
  const Json* value = record_->json->find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<std::string> Body::text(std::string_view name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, fmt::format("expected a string, got {}", value->describe()));
  return value->as_string();
}

std::optional<bool> Body::flag_if_any(const Field& field) {
  expect(field, ParameterType::kFlag);
  const Json* value = find(field.name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) refuse(field.name, fmt::format("expected true or false, got {}", value->describe()));
  return value->as_bool();
}

bool Body::flag(const Field& field) {
  return flag_if_any(field).value_or(field.is_on());
}

std::optional<int64_t> Body::whole(const Field& field, int64_t most) {
  expect(field, ParameterType::kInteger);
  const Json* value = find(field.name);
  if (value == nullptr) return std::nullopt;
  const int64_t low = field.low(), high = std::min(field.high(), most);
  if (!value->is_integer() || value->as_integer() < low || value->as_integer() > high)
    refuse(field.name, fmt::format("expected a whole number in {}..{}, got {}", low, high, value->describe()));
  return value->as_integer();
}

int64_t Body::whole_or_default(const Field& field, int64_t most) {
  return whole(field, most).value_or(field.default_number());
}

double Body::number(const Field& field) {
  expect(field, ParameterType::kNumber);
  const Json* value = find(field.name);
  if (value == nullptr) return parse_number<double>(field.default_value()).value();
  const auto low = static_cast<double>(field.low()), high = static_cast<double>(field.high());
  if (!value->is_number() || !(value->as_number() >= low && value->as_number() <= high))
    refuse(field.name, fmt::format("expected a number in {}..{}, got {}", low, high, value->describe()));
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
  return part(*value, pointer_of(name));
}

Body Body::part(const Json& value, std::string pointer) {
  const auto entry = record_->parts.find(&value);
  if (entry != record_->parts.end()) return Body(entry->second);
  return Body(record_->parts.emplace(&value, Body(value, std::move(pointer)).record_).first->second);
}

std::optional<std::string> Body::text(const Field& field) {
  expect(field, ParameterType::kText);
  return text(field.name);
}

std::optional<std::vector<std::string>> Body::texts(const Field& field) {
  expect(field, ParameterType::kTexts);
  return texts(field.name);
}

std::optional<std::string> Body::word(const Field& field) {
  expect(field, ParameterType::kWord);
  const std::optional<std::string> value = text(field.name);
  if (!value) return std::nullopt;
  const std::vector<std::string_view> words = words_of(field);
  std::string word = lower_case(*value);
  if (std::ranges::find(words, word) == words.end())
    refuse(field.name, fmt::format("expected {}, got {}", fmt::join(words, ", "), quote_json(*value)));
  return word;
}

// Readers ask for few names, whatever the client sends, so the work grows with the number of fields in the body.
void Body::add_unknown(const Record& record, std::vector<std::string>& pointers) {
  std::vector<std::string_view> absent;
  for (const std::string& name : record.asked) {
    if (record.json->find(name) == nullptr) absent.push_back(name);
  }
  for (const auto& [name, value] : record.json->as_object()) {
    if (record.asked.contains(name)) continue;
    std::string pointer = fmt::format("{}/{}", record.pointer, escaped(name));
    for (const std::string_view known : absent) {
      if (is_one_edit_apart(name, known)) refuse_at(pointer, fmt::format("unknown field; did you mean {}?", known));
    }
    pointers.push_back(std::move(pointer));
  }
  for (const auto& [json, part] : record.parts) add_unknown(*part, pointers);
}

std::vector<std::string> Body::unknown() const {
  std::vector<std::string> pointers;
  add_unknown(*record_, pointers);
  return pointers;
}

size_t json_bytes(std::string_view text, const JsonLimits& limits) {
  constexpr size_t kValueBytes = sizeof(Json) * 3 / 2;  // an array that grows has room for more
  constexpr size_t kMemberBytes = sizeof(JsonMember) - sizeof(Json) + 16;
  size_t values = 1, members = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      is_in_string = !is_in_string;
    else if (is_in_string)
      i += c == '\\';
    else if (c == ',' || c == '[' || c == '{')
      ++values;
    else if (c == ':')
      ++members;
  }
  values = std::min(values, limits.max_nodes);  // no more are read
  return values * kValueBytes + std::min(members, values) * kMemberBytes;
}

std::vector<std::string> texts_of(const Json& value, const std::string& pointer) {
  if (!value.is_array())
    Body::refuse_at(pointer, fmt::format("expected an array of strings, got {}", value.describe()));
  std::vector<std::string> texts;
  for (const Json& element : value.as_array()) {
    if (!element.is_string())
      Body::refuse_at(fmt::format("{}/{}", pointer, texts.size()),
                      fmt::format("expected a string, got {}", element.describe()));
    texts.push_back(element.as_string());
  }
  return texts;
}

}  // namespace deberta::serve
