// Sentences and pairs, and what all forms share.
#include "data/example_forms.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "data/json_members.h"

namespace deberta {
std::string_view present_name(const Json& row, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Json* value = row.find(name);
    if (value != nullptr && !value->is_null()) return name;
  }
  return {};
}

std::string needed_text(const Json& row, const std::vector<std::string>& names, const std::string& where) {
  const std::string_view name = present_name(row, names);
  if (name.empty()) {
    throw Error(ErrorCode::kInput, where,
                fmt::format("expected a field named {}, got {}", fmt::join(names, " or "), key_list(row)));
  }
  return text_member(row, name, where);
}

namespace {

std::string label_text(const Json& value, std::string_view key, const std::string& where) {
  if (value.is_string()) return value.as_string();
  if (value.is_number() || value.is_bool()) return value.dump();
  throw Error(ErrorCode::kTask, where, fmt::format("{}: expected a label, got {}", key, value.describe()));
}

}  // namespace

void check_copies(const Example& shared, size_t copies) {
  constexpr size_t kMaxBytes = size_t{128} << 20;
  const size_t size = shared.text.size() + shared.text_spans.size() * sizeof(TextSpan) + sizeof(Example);
  if (checked_mul(size, copies).value_or(kMaxBytes + 1) > kMaxBytes)
    throw Error(ErrorCode::kTooLarge, shared.where,
                fmt::format("expected at most {} bytes of passages over all questions of a row, got {} times {}",
                            kMaxBytes, copies, size));
}

std::optional<std::string> label_member(const Json& row, std::string_view key, const std::string& where) {
  const Json* value = row.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_integer() && value->as_integer() == -1) return std::nullopt;
  if (!value->is_array()) return label_text(*value, key, where);
  std::string joined;
  for (const Json& item : value->as_array()) {
    const std::string text = label_text(item, key, where);
    if (text.empty() || text.find(',') != std::string::npos)
      throw Error(ErrorCode::kInput, where,
                  fmt::format("{}: expected a name without a comma, got {}", key, item.describe()));
    joined += (joined.empty() ? "" : ",") + text;
  }
  return joined;
}

std::string id_member(const Json& row, std::string_view key, const std::string& where) {
  const Json* value = row.find(key);
  if (value == nullptr || value->is_null()) return {};
  if (value->is_string()) return value->as_string();
  if (value->is_integer()) return value->dump();
  throw Error(ErrorCode::kInput, where, fmt::format("{}: expected a name or a number, got {}", key, value->describe()));
}

std::optional<std::string> slice_member(const Json& row, std::string_view key, const std::string& where) {
  const Json* value = key.empty() ? nullptr : row.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_string() && !value->is_number() && !value->is_bool())
    throw Error(ErrorCode::kInput, where,
                fmt::format("{}: expected a string, a number, true or false, got {}", key, value->describe()));
  std::string text = value->is_string() ? value->as_string() : value->dump();
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::string choice_label(std::string_view text, size_t choices, std::string_view key, const std::string& where) {
  auto number = parse_number<size_t>(text);
  if (text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z') number = static_cast<size_t>(text[0] - 'A');
  if (!number || *number >= choices)
    throw Error(ErrorCode::kTask, where,
                fmt::format("{}: expected the number of one of {} choices, got {}", key, choices, quote_begin(text)));
  return std::to_string(*number);
}

void read_text_form(const Json& row, const std::string& where, const ExampleRules& rules,
                    std::deque<Example>& examples) {
  const ExampleFields& fields = rules.fields;
  Example example;
  example.where = where;
  example.text = needed_text(row, fields.text, where);
  if (!fields.pair.empty())
    example.pair = needed_text(row, fields.pair, where);
  else if (!fields.maybe_pair.empty() && !present_name(row, {fields.maybe_pair}).empty())
    example.pair = text_member(row, fields.maybe_pair, where);
  if (const auto name = present_name(row, fields.label); !name.empty()) {
    const Json* value = row.find(name);
    if (value->is_array() && !rules.has_label_lists)
      throw Error(ErrorCode::kTask, where,
                  fmt::format("{}: expected one label, got a list; the task multi-label takes lists of names", name));
    // The number may be a class or a score: the task says whether it means that there is no label.
    example.label = value->is_integer() ? value->dump() : label_member(row, name, where);
  }
  if (const auto name = present_name(row, fields.genre); !name.empty()) example.genre = text_member(row, name, where);
  if (const auto name = present_name(row, fields.id); !name.empty()) example.id = id_member(row, name, where);
  examples.push_back(std::move(example));
}

}  // namespace deberta
