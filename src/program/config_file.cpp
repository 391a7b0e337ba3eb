// JSON values to the texts that options are set from, and back.
#include "program/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/json.h"
#include "base/nearest.h"
#include "deberta/error.h"
#include "options/options.h"
#include "options/other_trainers.h"

namespace deberta::program {
namespace {

// A list is joined with commas, so none of its texts may contain one; names of files are kept apart.
std::vector<std::string> texts_of_list(const std::string& path, const std::string& key, const JsonArray& items,
                                       bool are_files) {
  std::vector<std::string> texts;
  for (const Json& item : items) {
    const bool is_number = !are_files && item.is_number();
    if (!is_number && (!item.is_string() || (!are_files && item.as_string().find(',') != std::string::npos)))
      throw Error(ErrorCode::kUsage, path,
                  fmt::format("{}: expected {}, got {}", key,
                              are_files ? "names of files" : "texts without commas, or numbers", item.dump()));
    texts.push_back(is_number ? item.dump() : item.as_string());
  }
  return texts;
}

std::string text_of(const std::string& path, const std::string& key, const Json& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_object() || value.is_null())
    throw Error(ErrorCode::kUsage, path,
                fmt::format("{}: expected a text, a number, true, false or a list, got {}", key, value.describe()));
  return value.dump();
}

// These say where options come from; they are not settings of a run.
bool is_of_command_line(std::string_view name) {
  return name == "config" || name == "print-config";
}

bool is_of_type(const Options& options, std::string_view name, OptionType type) {
  const auto rows = options_of(options.verb());
  return std::any_of(rows.begin(), rows.end(),
                     [&](const OptionRow* row) { return row->name == name && row->type == type; });
}

void set(const std::string& path, const JsonMember& member, Options& options) {
  if (is_of_command_line(member.first))
    throw Error(ErrorCode::kUsage, path, fmt::format("{}: allowed on the command line only", member.first));
  const std::string origin = "config " + path;
  if (const OptionAlias* alias = find_alias(options.verb(), member.first)) {
    if (!alias->value.empty()) return set_alias(*alias, text_of(path, member.first, member.second), origin, options);
    return set(path, {std::string(alias->option), member.second}, options);
  }
  if (!member.second.is_array()) return options.set(member.first, text_of(path, member.first, member.second), origin);
  const bool are_files = is_of_type(options, member.first, OptionType::kFiles);
  options.set(member.first, texts_of_list(path, member.first, member.second.as_array(), are_files), origin);
}

// Names may have underscores, as on the command line.
JsonMember with_dashes(JsonMember member) {
  std::ranges::replace(member.first, '_', '-');
  return member;
}

[[noreturn]] void refuse_unknown(const std::string& path, const std::string& key, const std::string& verb) {
  if (const std::string_view answer = answer_to(key, verb); !answer.empty())
    throw Error(ErrorCode::kUsage, path, fmt::format("{} has no option {}: {}", verb, key, answer));
  std::vector<std::string_view> names;
  for (const OptionRow& row : option_table()) names.push_back(row.name);
  for (const VerbRow& row : verb_table()) names.push_back(row.name);
  const std::string_view near = nearest_match(key, names);
  throw Error(
      ErrorCode::kUsage, path,
      fmt::format("unknown option or verb {}{}", key, near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

bool is_option(const std::string& key) {
  const auto table = option_table();
  const auto aliases = option_aliases();
  return std::any_of(table.begin(), table.end(), [&](const OptionRow& row) { return row.name == key; }) ||
         std::any_of(aliases.begin(), aliases.end(), [&](const OptionAlias& alias) { return alias.name == key; });
}

// Sections of other verbs are checked too, so that a mistake there is found before that verb is run.
void apply_section(const std::string& path, const JsonMember& section, Options& options) {
  if (!section.second.is_object())
    throw Error(ErrorCode::kUsage, path,
                fmt::format("{}: expected an object of options, got {}", section.first, section.second.describe()));
  Options other(section.first);
  Options& target = section.first == options.verb() ? options : other;
  for (const JsonMember& member : section.second.as_object()) set(path, with_dashes(member), target);
}

}  // namespace

Json option_value(const OptionRow& row, const Options& options) {
  if (takes_auto(row) && options.is_auto(row)) return options.text(row);
  switch (row.type) {
    case OptionType::kFlag:
      return options.flag(row);
    case OptionType::kInteger:
    case OptionType::kSize:
      return options.integer(row);
    case OptionType::kNumber:
      return options.number(row);
    case OptionType::kList: {
      JsonArray items;
      for (std::string& item : options.list(row)) items.emplace_back(std::move(item));
      return items;
    }
    case OptionType::kFiles: {
      JsonArray items(options.files(row).begin(), options.files(row).end());
      return items;
    }
    case OptionType::kText:
    case OptionType::kChoice:
      return options.text(row);
  }
  return options.text(row);
}

std::string apply_config_file(const std::string& path, Options& options) {
  const Json document = load_json(path);
  if (!document.is_object())
    throw Error(ErrorCode::kUsage, path, "expected an object of options, got " + document.describe());
  std::string ignored;
  for (const JsonMember& entry : document.as_object()) {
    if (find_verb(entry.first) != nullptr) continue;
    const JsonMember member = with_dashes(entry);
    if (has_option(options.verb(), member.first) || find_alias(options.verb(), member.first) != nullptr) {
      set(path, member, options);
    } else if (is_option(member.first)) {
      ignored += (ignored.empty() ? "" : ", ") + member.first;
    } else {
      refuse_unknown(path, member.first, options.verb());
    }
  }
  for (const JsonMember& member : document.as_object()) {
    if (find_verb(member.first) != nullptr) apply_section(path, member, options);
  }
  return ignored;
}

std::string config_text(const Options& options) {
  JsonObject section;
  for (const OptionRow* row : options_of(options.verb())) {
    if (options.is_given(*row) && !is_of_command_line(row->name) && !is_secret(*row))
      section.emplace_back(row->name, option_value(*row, options));
  }
  return Json(JsonObject{{options.verb(), std::move(section)}}).dump(2) + '\n';
}

}  // namespace deberta::program
