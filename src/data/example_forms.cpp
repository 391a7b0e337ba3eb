// Sentences and pairs, and what all forms share.
#include "data/example_forms.h"

#include <fmt/format.h>

#include <cmath>

#include "base/ascii.h"
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

std::string needed_text(const Json& row, const FieldNames& field, const std::string& where) {
  const std::string_view name = present_name(row, field.names);
  if (name.empty()) throw missing_field(field, "", row, where);
  return text_member(row, name, where);
}

namespace {

std::string label_text(const Json& value, std::string_view key, const std::string& where) {
  if (value.is_string()) return value.as_string();
  if (value.is_number() || value.is_bool()) return value.dump();
  throw Error(ErrorCode::kTask, where, fmt::format("{}: expected a label, got {}", key, value.describe()));
}

// Finite, also as text, as cells are; nothing where it is missing, null or blank.
std::optional<double> number_member(const Json& row, std::string_view key, const std::string& where) {
  const Json* value = row.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_string() && strip(value->as_string()).empty()) return std::nullopt;
  return number_value(*value, key, where);
}

// The numbers of all these fields; none where all are blank.
std::vector<NamedNumber> numbers_of(const Json& row, const std::vector<std::string>& fields, const std::string& where) {
  std::vector<NamedNumber> numbers;
  std::vector<std::string> blank;
  for (const std::string& field : fields) {
    if (const std::optional<double> number = number_member(row, field, where))
      numbers.push_back({field, *number});
    else
      blank.push_back(field);
  }
  if (!numbers.empty() && !blank.empty())
    throw Error(
        ErrorCode::kInput, where,
        fmt::format("{}: expected a number, since {} has one, got none", fmt::join(blank, ", "), numbers.front().name));
  return numbers;
}

std::vector<NamedNumber> shares_of(const Json& label, std::string_view key, const std::string& where) {
  std::vector<NamedNumber> shares;
  for (const auto& [name, share] : label.as_object()) {
    if (!share.is_number())
      throw Error(ErrorCode::kInput, where,
                  fmt::format("{}: {}: expected the share of a class, got {}", key, name, share.describe()));
    shares.push_back({std::string(strip(name)), share.as_number()});
  }
  if (shares.empty())
    throw Error(ErrorCode::kInput, where, fmt::format("{}: expected shares of classes, got an empty object", key));
  return shares;
}

// What is off by rounding is put right.
void normalise_shares(std::vector<NamedNumber>& shares, const std::string& where) {
  constexpr double kMostOff = 1e-3 + 1e-9;  // decimals are no exact numbers
  double sum = 0;
  for (const NamedNumber& share : shares) {
    if (!(share.value >= 0))
      throw Error(ErrorCode::kInput, where,
                  fmt::format("{}: expected a share of 0 or more, got {}", share.name, share.value));
    sum += share.value;
  }
  if (!(std::abs(sum - 1) <= kMostOff))
    throw Error(ErrorCode::kInput, where,
                fmt::format("expected shares of classes that sum to 1 within .001, got {}", sum));
  for (NamedNumber& share : shares) share.value /= sum;
}

// A label of several numbers; none: the row has none, or one of another kind.
std::vector<NamedNumber> read_values(const Json& row, const ExampleRules& rules, const std::string& where) {
  std::vector<NamedNumber> values = numbers_of(row, rules.value_fields, where);
  if (rules.value_fields.empty() && rules.has_shares) {
    const std::string_view name = present_name(row, rules.fields.label.names);
    if (!name.empty() && row.find(name)->is_object()) values = shares_of(*row.find(name), name, where);
  }
  if (rules.has_shares && !values.empty()) normalise_shares(values, where);
  return values;
}

}  // namespace

double number_value(const Json& value, std::string_view key, const std::string& where) {
  std::optional<double> number;
  if (value.is_number()) number = value.as_number();
  if (value.is_string()) number = parse_number<double>(strip(value.as_string()));
  if (number && std::isfinite(*number)) return *number;
  throw Error(ErrorCode::kInput, where, fmt::format("{}: expected a number, got {}", key, value.describe()));
}

Error missing_field(const FieldNames& field, std::string_view hint, const Json& row, const std::string& where) {
  std::string comma = hint.empty() ? ", " : " ";
  return {ErrorCode::kInput,
          {{.where = where,
            .message = fmt::format("expected a field named {}{}{}got {}", field.text(), comma, hint, key_list(row)),
            .remedies = field.remedies()}}};
}

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

double weight_member(const Json& row, std::string_view key, const std::string& where) {
  constexpr double kLeast = 1e-6, kMost = 1e6;  // far from where floats end
  if (key.empty()) return 1;
  const std::optional<double> weight = number_member(row, key, where);
  if (weight && (*weight == 0 || (*weight >= kLeast && *weight <= kMost))) return *weight;
  throw Error(ErrorCode::kInput, where,
              fmt::format("{}: expected a weight of the row, 0 or from 1e-6 to 1e6, got {}", key,
                          weight ? fmt::format("{}", *weight) : "none"));
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
  if (!fields.pair.names.empty())
    example.pair = needed_text(row, fields.pair, where);
  else if (!fields.maybe_pair.empty() && !present_name(row, {fields.maybe_pair}).empty())
    example.pair = text_member(row, fields.maybe_pair, where);
  example.values = read_values(row, rules, where);
  const bool has_one_field = example.values.empty() && rules.value_fields.empty();
  if (const auto name = present_name(row, fields.label.names); has_one_field && !name.empty()) {
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
