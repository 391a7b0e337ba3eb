// Names, types and ranges as the table has them; what is wrong is an error of the argument.
#include "python/src/parameters.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/nearest.h"
#include "base/refuse_argument.h"
#include "deberta/error.h"

namespace deberta::python {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& expected, const Json& value) {
  refuse_argument(std::string(name), fmt::format("expected {}, got {}", expected, value.describe()));
}

[[noreturn]] void refuse_name(std::string_view task, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Parameter& row : kParameters) {
    if (names_word(row.tasks, task)) names.push_back(row.name);
  }
  const std::string_view nearest = nearest_match(name, names);
  refuse_argument(std::string(name), nearest.empty()
                                         ? fmt::format("expected a parameter of {}: {}", task, fmt::join(names, ", "))
                                         : fmt::format("no parameter of {}; did you mean {}?", task, nearest));
}

template <class Number>
Number parse(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "1..64"
void check_range(const Parameter& row, const Json& value) {
  const size_t dots = row.range.find("..");
  const double low = parse<double>(row.range.substr(0, dots)), high = parse<double>(row.range.substr(dots + 2));
  if (value.as_number() >= low && value.as_number() <= high) return;
  refuse(row.name, fmt::format("{} in {}", row.type == ParameterType::kInteger ? "an integer" : "a number", row.range),
         value);
}

void check_word(const Parameter& row, const Json& value) {
  bool is_known = false;
  if (value.is_string())
    for_each_word(row.range, [&](std::string_view word) { is_known = is_known || word == value.as_string(); });
  if (!is_known) refuse(row.name, fmt::format("one of {}", row.range), value);
}

void check_texts(const Parameter& row, const Json& value) {
  if (!value.is_array()) refuse(row.name, "a list of texts", value);
  for (const Json& item : value.as_array()) {
    if (!item.is_string()) refuse(row.name, "a list of texts", item);
  }
}

bool has_own_forms(std::string_view task, std::string_view name) {
  return task == "extract" && (name == "labels" || name == "threshold");
}

void check_value(const Parameter& row, const Json& value) {
  switch (row.type) {
    case ParameterType::kFlag:
      if (!value.is_bool()) refuse(row.name, "True or False", value);
      return;
    case ParameterType::kInteger:
      if (!value.is_integer()) refuse(row.name, fmt::format("an integer in {}", row.range), value);
      return check_range(row, value);
    case ParameterType::kNumber:
      if (!value.is_number()) refuse(row.name, fmt::format("a number in {}", row.range), value);
      return check_range(row, value);
    case ParameterType::kWord:
      return check_word(row, value);
    case ParameterType::kText:
      if (!value.is_string()) refuse(row.name, "a text", value);
      return;
    case ParameterType::kTexts:
      return check_texts(row, value);
  }
}

}  // namespace

Parameters::Parameters(std::string_view task, JsonObject given) : task_(task), given_(std::move(given)) {
  for (const auto& [name, value] : given_) {
    const Parameter* row = find_parameter(task_, name);
    if (row == nullptr) refuse_name(task_, name);
    if (!value.is_null() && !has_own_forms(task_, name)) check_value(*row, value);
  }
}

const Parameter& Parameters::row(std::string_view name) const {
  const Parameter* row = find_parameter(task_, name);
  if (row == nullptr) throw Error(ErrorCode::kInternal, task_, fmt::format("no parameter {}", name));
  return *row;
}

const Json* Parameters::find(std::string_view name) const {
  for (const auto& [key, value] : given_) {
    if (key == name) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

std::optional<size_t> Parameters::whole(std::string_view name) const {
  if (const Json* value = find(name)) return static_cast<size_t>(value->as_integer());
  const std::string_view by_default = row(name).default_value;
  return by_default.empty() ? std::nullopt : std::optional(parse<size_t>(by_default));
}

std::optional<double> Parameters::number(std::string_view name) const {
  if (const Json* value = find(name)) return value->as_number();
  const std::string_view by_default = row(name).default_value;
  return by_default.empty() ? std::nullopt : std::optional(parse<double>(by_default));
}

bool Parameters::flag(std::string_view name) const {
  const Json* value = find(name);
  return value != nullptr ? value->as_bool() : row(name).default_value == "true";
}

std::string Parameters::text(std::string_view name) const {
  const Json* value = find(name);
  return value != nullptr ? value->as_string() : std::string(row(name).default_value);
}

size_t Parameters::least(std::string_view name) const {
  const std::string_view range = row(name).range;
  return parse<size_t>(range.substr(0, range.find("..")));
}

std::vector<std::string> Parameters::texts(std::string_view name) const {
  std::vector<std::string> texts;
  if (const Json* value = find(name)) {
    for (const Json& item : value->as_array()) texts.push_back(item.as_string());
  } else if (const std::string_view by_default = row(name).default_value; !by_default.empty()) {
    texts.emplace_back(by_default);
  }
  return texts;
}

}  // namespace deberta::python
