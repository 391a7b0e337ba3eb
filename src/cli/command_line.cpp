// CLI11 takes the words apart; the option table says what each may be.
#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/nearest.h"
#include "deberta/error.h"

namespace deberta::cli {
namespace {

// What CLI11 found, before the table has checked it.
struct Found {
  std::map<std::string, std::string, std::less<>> values;
  std::vector<std::string> arguments;
  bool wants_help = false;
};

[[noreturn]] void refuse_unknown_verb(const std::string& verb) {
  std::vector<std::string_view> names;
  for (const VerbRow& row : verb_table()) names.push_back(row.name);
  const std::string_view near = nearest_match(verb, names);
  throw Error(
      ErrorCode::kUsage, "",
      fmt::format("unknown {} {}{}; `deberta --help` lists the verbs", verb.starts_with('-') ? "option" : "verb", verb,
                  near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

// An unknown word that begins with a dash: the option it may have meant.
[[noreturn]] void refuse_unknown_option(const std::string& word, const std::string& verb) {
  const size_t begin = std::min(word.find_first_not_of('-'), word.size());  // all dashes: no name
  const std::string name = word.substr(begin, word.find('=') - begin);
  std::vector<std::string_view> names;
  for (const OptionRow* row : options_of(verb)) names.push_back(row->name);
  if (const std::string_view near = nearest_match(name, names); !near.empty()) {
    throw Error(ErrorCode::kUsage, "", fmt::format("unknown option {}; did you mean --{}?", word, near));
  }
  for (const OptionRow& row : option_table()) {
    if (row.name == name) {
      throw Error(ErrorCode::kUsage, "",
                  fmt::format("option {} does not apply to {}; it applies to: {}", word, verb, row.verbs));
    }
  }
  throw Error(ErrorCode::kUsage, "",
              fmt::format("unknown option {}; `deberta {} --help` lists the options, and -- ends them", word, verb));
}

Found take_apart(const std::vector<std::string>& words) {
  const std::string& verb = words.front();
  Found found;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", found.wants_help);
  std::map<std::string, bool, std::less<>> flags;
  for (const OptionRow* row : options_of(verb)) {
    const std::string names =
        row->short_name ? fmt::format("-{},--{}", row->short_name, row->name) : fmt::format("--{}", row->name);
    const std::string name(row->name);
    if (row->type == OptionType::kFlag) {
      app.add_flag_callback(names, [&found, name] { found.values[name] = "true"; });
    } else {
      app.add_option_function<std::string>(names,
                                           [&found, name](const std::string& value) { found.values[name] = value; })
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
          ->allow_extra_args(false);
    }
  }
  std::vector<std::string> rest(words.rbegin(), words.rend() - 1);  // CLI11 takes them last first
  try {
    app.parse(rest);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::kUsage, "", error.what());
  }
  bool options_ended = false;
  for (const std::string& word : app.remaining()) {
    if (word == "--" && !std::exchange(options_ended, true)) continue;
    found.arguments.push_back(word);
  }
  return found;
}

// Words that CLI11 left over and that were meant as options: those with a dash before "--".
void refuse_leftover_options(const std::vector<std::string>& words, const Found& found) {
  const auto end = std::find(words.begin(), words.end(), "--");
  for (const std::string& word : found.arguments) {
    if (word.size() < 2 || word.front() != '-') continue;
    if (std::find(words.begin() + 1, end, word) != end) refuse_unknown_option(word, words.front());
  }
}

void apply_config_file(const std::string& path, Options& options) {
  const Json document = load_json(path);
  if (!document.is_object())
    throw Error(ErrorCode::kUsage, path, "expected an object of options, got " + document.describe());
  for (const auto& [key, value] : document.as_object()) {
    std::string text;
    if (value.is_array()) {
      for (const Json& item : value.as_array()) {
        if (!item.is_string())
          throw Error(ErrorCode::kUsage, path, fmt::format("{}: expected texts, got {}", key, item.describe()));
        text += (text.empty() ? "" : ",") + item.as_string();
      }
    } else {
      text = value.is_string() ? value.as_string() : value.dump();
    }
    options.set(key, text, "config " + path);
  }
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& words) {
  if (find_verb(words.front()) == nullptr) refuse_unknown_verb(words.front());
  Found found = take_apart(words);
  refuse_leftover_options(words, found);
  CommandLine line{Options(words.front()), found.wants_help};
  if (line.wants_help) return line;

  const auto rows = options_of(words.front());
  const char* config_variable = std::getenv("DEBERTA_CONFIG");
  const auto config = found.values.find("config");
  if (config != found.values.end()) {
    apply_config_file(config->second, line.options);
  } else if (config_variable != nullptr) {
    apply_config_file(config_variable, line.options);
  }
  for (const OptionRow* row : rows) {
    const std::string name = environment_name(*row);
    if (const char* value = std::getenv(name.c_str())) line.options.set(row->name, value, "environment " + name);
  }
  for (const auto& [name, value] : found.values) line.options.set(name, value, "flag");
  line.options.arguments = std::move(found.arguments);
  return line;
}

}  // namespace deberta::cli
