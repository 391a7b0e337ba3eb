// Values of options: checking against the table, defaults, origins.
#include "options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/nearest.h"
#include "deberta/error.h"
#include "options/other_trainers.h"
#include "pipeline/parameters.h"

namespace deberta {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

[[noreturn]] void refuse(std::string_view where, std::string_view expected, std::string_view got,
                         std::string_view remedy = {}) {
  throw Error(ErrorCode::kUsage, std::string(where),
              fmt::format("expected {}, got \"{}\"{}{}", expected, got, remedy.empty() ? "" : "; ", remedy));
}

// "1..64" -> the two ends, written as sizes or numbers; every numeric row has a range.
std::pair<double, double> parse_range(std::string_view range) {
  const size_t dots = range.find("..");
  const auto end_of = [&](std::string_view text) {
    return text.starts_with('-') ? -static_cast<double>(parse_size(text.substr(1), "range"))
                                 : static_cast<double>(parse_size(text, "range"));
  };
  return {end_of(range.substr(0, dots)), end_of(range.substr(dots + 2))};
}

constexpr std::string_view kAuto = "auto", kAutoRange = "auto|";

// The range of the numbers alone.
std::string_view numbers_of(const OptionRow& row) {
  return takes_auto(row) ? row.range.substr(kAutoRange.size()) : row.range;
}

void check_in_range(const OptionRow& row, std::string_view where, std::string_view text, double value) {
  const auto [low, high] = parse_range(numbers_of(row));
  if (!(value >= low && value <= high)) refuse(where, fmt::format("a value in {}", range_text(row)), text, row.remedy);
}

bool parse_flag(std::string_view text, std::string_view where) {
  if (text == "true" || text == "1" || text == "on") return true;
  if (text == "false" || text == "0" || text == "off" || text.empty()) return false;
  refuse(where, "true or false", text);
}

// "16k" as "16000" and so on; throws when `text` is not a valid value for the row.
std::string checked_value(const OptionRow& row, std::string_view text, std::string_view where) {
  if (text == kAuto && takes_auto(row)) return std::string(text);
  switch (row.type) {
    case OptionType::kFlag:
      return parse_flag(text, where) ? "true" : "false";
    case OptionType::kInteger: {
      const auto value = parse_number<int64_t>(text);
      if (!value) refuse(where, fmt::format("a whole number in {}", range_text(row)), text);
      check_in_range(row, where, text, static_cast<double>(*value));
      return std::string(text);
    }
    case OptionType::kNumber: {
      const auto value = parse_number<double>(text);
      if (!value) refuse(where, fmt::format("a number in {}", range_text(row)), text);
      check_in_range(row, where, text, *value);
      return std::string(text);
    }
    case OptionType::kSize: {
      const uint64_t value = parse_size(text, where);
      check_in_range(row, where, text, static_cast<double>(value));
      return std::to_string(value);
    }
    case OptionType::kChoice: {
      const auto choices = split(row.range, '|');
      if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
        const std::string_view near = nearest_match(text, choices);
        const std::string hint = near.empty() ? "" : fmt::format("; did you mean {}?", near);
        throw Error(ErrorCode::kUsage, std::string(where),
                    fmt::format("expected {}, got \"{}\"{}", fmt::join(choices, ", "), text, hint));
      }
      return std::string(text);
    }
    case OptionType::kText:
    case OptionType::kList:
    case OptionType::kFiles:
      return std::string(text);
  }
  return std::string(text);
}

}  // namespace

bool takes_auto(const OptionRow& row) {
  const bool is_number =
      row.type == OptionType::kInteger || row.type == OptionType::kNumber || row.type == OptionType::kSize;
  return is_number && row.range.starts_with(kAutoRange);
}

bool is_secret(const OptionRow& row) {
  return row.name == "api-key";
}

std::string range_text(const OptionRow& row) {
  return std::string(numbers_of(row)) + (takes_auto(row) ? " or auto" : "");
}

// {allow_no_answer} is the option of that parameter, of the same tasks.
std::string help_text(const OptionRow& row) {
  if (row.parameter == nullptr) return std::string(row.help);
  const auto option_of = [&](std::string_view name) {
    for (const OptionRow* other : options_of(split(row.verbs, ' ').front())) {
      if (other->parameter != nullptr && other->parameter->name == name) return fmt::format("--{}", other->name);
    }
    throw Error(ErrorCode::kInternal, "options", fmt::format("--{}: no option for {{{}}}", row.name, name));
  };
  return with_names(row.help, option_of) + std::string(row.more);
}

const VerbRow* find_verb(std::string_view name) {
  const auto verbs = verb_table();
  const auto it = std::find_if(verbs.begin(), verbs.end(), [&](const VerbRow& row) { return row.name == name; });
  return it == verbs.end() ? nullptr : &*it;
}

void refuse_script_verb(std::string_view verb) {
  for (const ScriptRow& script : script_table()) {
    if (script.name != verb) continue;
    throw Error(
        ErrorCode::kUsage, std::string(verb),
        fmt::format(
            "expected a verb of this program, got one that only a checkout has; `./run {} --help` shows it there",
            verb));
  }
}

bool applies_to(const OptionRow& row, std::string_view verb) {
  return row.verbs == "*" || names_word(row.verbs, verb);
}

std::vector<const OptionRow*> common_options(const VerbRow& verb) {
  std::vector<const OptionRow*> options;
  for (const std::string_view name : split(verb.common, ' ')) {
    if (!name.empty()) options.push_back(find_option(verb.name, name));
  }
  return options;
}
bool writes_array(const VerbRow& verb, std::string_view ending) {
  return names_word(verb.arrays, ending);
}

const OptionAlias* find_alias(std::string_view verb, std::string_view name) {
  const auto aliases = option_aliases();
  const auto row = std::find_if(aliases.begin(), aliases.end(), [&](const OptionAlias& alias) {
    return alias.name == name && names_word(alias.verbs, verb);
  });
  return row == aliases.end() ? nullptr : &*row;
}

const OptionRow* find_option(std::string_view verb, std::string_view name) {
  const auto table = option_table();
  const auto match = std::find_if(table.begin(), table.end(),
                                  [&](const OptionRow& row) { return row.name == name && applies_to(row, verb); });
  return match == table.end() ? nullptr : &*match;
}

bool has_option(std::string_view verb, std::string_view name) {
  return find_option(verb, name) != nullptr;
}

double range_min(const OptionRow& row) {
  return parse_range(numbers_of(row)).first;
}

std::vector<const OptionRow*> options_of(std::string_view verb) {
  std::vector<const OptionRow*> rows;
  for (const OptionRow& row : option_table()) {
    if (applies_to(row, verb)) rows.push_back(&row);
  }
  return rows;
}

std::string environment_name(std::string_view option) {
  std::string name = "DEBERTA_";
  for (const char c : option) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

uint64_t parse_size(std::string_view text, std::string_view where) {
  static constexpr std::array<std::pair<std::string_view, uint64_t>, 6> kUnits = {{{"KiB", uint64_t{1} << 10},
                                                                                   {"MiB", uint64_t{1} << 20},
                                                                                   {"GiB", uint64_t{1} << 30},
                                                                                   {"k", 1000},
                                                                                   {"M", 1000000},
                                                                                   {"G", 1000000000}}};
  std::string_view digits = text;
  uint64_t unit = 1;
  for (const auto& [suffix, factor] : kUnits) {
    if (digits.ends_with(suffix)) {
      digits.remove_suffix(suffix.size());
      unit = factor;
      break;
    }
  }
  const auto count = parse_number<uint64_t>(digits);
  const auto value = count ? checked_mul(*count, unit) : std::nullopt;
  if (!value) refuse(where, "a size such as 4096, 16k or 2MiB", text);
  return *value;
}

Options::Options(std::string_view verb) : verb_(verb) {
  for (const OptionRow* row : options_of(verb)) {
    values_.push_back({row, checked_value(*row, row->default_value, row->name), "default"});
  }
}

void Options::set(std::string_view name, const std::vector<std::string>& values, std::string_view origin) {
  const auto position =
      std::find_if(values_.begin(), values_.end(), [&](const Value& entry) { return entry.row->name == name; });
  const OptionType type = position == values_.end() ? OptionType::kText : position->row->type;
  if (values.empty() && type != OptionType::kList) return;
  if (values.size() == 1 || type == OptionType::kList)
    return set(name, fmt::format("{}", fmt::join(values, ",")), origin);
  if (type == OptionType::kFiles) {
    for (const std::string& value : values) set(name, value, origin);  // refuses an empty value
    position->text = fmt::format("{}", fmt::join(values, ","));
    position->files = values;
    return;
  }
  throw Error(ErrorCode::kUsage, origin == "flag" ? fmt::format("--{}", name) : fmt::format("{}: {}", origin, name),
              fmt::format("expected one value, got {}: {}", values.size(), fmt::join(values, ", ")));
}

void set_alias(const OptionAlias& alias, std::string_view value, std::string_view origin, Options& options) {
  if (alias.value.empty()) return options.set(alias.option, value, origin);
  if (parse_flag(value, fmt::format("{}: {}", origin, alias.name))) options.set(alias.option, alias.value, origin);
}

void Options::set(std::string_view name, std::string_view value, std::string_view origin) {
  for (Value& entry : values_) {
    if (entry.row->name != name) continue;
    const std::string where = origin == "flag" ? fmt::format("--{}", name) : fmt::format("{}: {}", origin, name);
    const bool is_name = entry.row->type == OptionType::kText || entry.row->type == OptionType::kFiles;
    if (value.empty() && is_name) refuse(where, entry.row->range, "");
    entry.text = checked_value(*entry.row, value, where);
    entry.origin = origin;
    entry.files.assign(entry.row->type == OptionType::kFiles ? 1 : 0, std::string(value));
    return;
  }
  if (const std::string_view answer = answer_to(name, verb_); !answer.empty())
    throw Error(ErrorCode::kUsage, origin == "flag" ? "" : std::string(origin),
                fmt::format("{} has no option {}: {}", verb_, name, answer));
  std::vector<std::string_view> names;
  for (const Value& entry : values_) names.push_back(entry.row->name);
  const std::string_view near = nearest_match(name, names);
  throw Error(
      ErrorCode::kUsage, origin == "flag" ? "" : std::string(origin),
      fmt::format("unknown option --{}{}", name, near.empty() ? "" : fmt::format("; did you mean --{}?", near)));
}

const Options::Value& Options::value(const OptionRow& row) const {
  for (const Value& entry : values_) {
    if (entry.row != &row) continue;
    entry.is_read = true;
    return entry;
  }
  throw Error(ErrorCode::kInternal, "options", fmt::format("verb {} has no such row for --{}", verb_, row.name));
}

bool Options::is_given(const OptionRow& row) const {
  return value(row).origin != "default";
}
bool Options::is_auto(const OptionRow& row) const {
  return value(row).text == kAuto;
}
const std::string& Options::origin(const OptionRow& row) const {
  return value(row).origin;
}
bool Options::flag(const OptionRow& row) const {
  return value(row).text == "true";
}
const std::string& Options::text(const OptionRow& row) const {
  return value(row).text;
}
int64_t Options::integer(const OptionRow& row) const {
  return parse_number<int64_t>(value(row).text).value();
}
double Options::number(const OptionRow& row) const {
  return parse_number<double>(value(row).text).value();
}

std::vector<std::string> Options::list(const OptionRow& row) const {
  std::vector<std::string> items;
  for (const std::string_view part : split(value(row).text, ',')) items.emplace_back(part);
  return items;
}

const std::vector<std::string>& Options::files(const OptionRow& row) const {
  return value(row).files;
}

std::vector<const OptionRow*> Options::unread() const {
  std::vector<const OptionRow*> rows;
  for (const Value& entry : values_) {
    if (!entry.is_read) rows.push_back(entry.row);
  }
  return rows;
}

std::string Options::describe() const {
  std::string text;
  for (const Value& entry : values_) {
    const std::string_view shown = is_secret(*entry.row) ? "(not shown)" : std::string_view(entry.text);
    text += fmt::format("{} = {}  ({})\n", entry.row->name, shown, entry.origin);
  }
  return text;
}

}  // namespace deberta
