// CLI11 splits the words; the option table says what each may be.
#include "program/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "base/nearest.h"
#include "deberta/error.h"
#include "options/options.h"
#include "options/other_trainers.h"
#include "program/config_file.h"

namespace deberta::program {
namespace {

// What CLI11 found, before the table has checked it.
struct ParsedWords {
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // one entry for each time it was given
  std::vector<std::string> arguments;
  bool wants_help = false;
};

[[noreturn]] void refuse_unknown_verb(const std::string& verb) {
  refuse_script_verb(verb);
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
  if (const std::string_view answer = answer_to(name, verb); !answer.empty())
    throw Error(ErrorCode::kUsage, "",
                fmt::format("{} has no option {}: {}", verb, word.substr(0, begin) + name, answer));
  std::vector<std::string_view> names;
  for (const OptionRow* row : options_of(verb)) names.push_back(row->name);
  const auto refuse_for = [&](std::string_view meant) {
    if (!meant.empty())
      throw Error(ErrorCode::kUsage, "", fmt::format("unknown option {}; did you mean --{}?", word, meant));
  };
  refuse_for(nearest_match(name, names));
  std::string verbs;  // verbs of all rows with the name
  for (const OptionRow& row : option_table()) {
    if (row.name == name) verbs += fmt::format("{}{}", verbs.empty() ? "" : " ", row.verbs);
  }
  if (!verbs.empty())
    throw Error(ErrorCode::kUsage, "",
                fmt::format("option {} does not apply to {}; it applies to: {}", word, verb, verbs));
  refuse_for(longer_match(name, names));
  throw Error(ErrorCode::kUsage, "",
              fmt::format("unknown option {}; `deberta {} --help` lists the options, and -- ends them", word, verb));
}

// What an option takes, in words.
std::string value_of(const OptionRow& row) {
  switch (row.type) {
    case OptionType::kInteger:
      return fmt::format("a whole number in {}", range_text(row));
    case OptionType::kNumber:
    case OptionType::kSize:
      return fmt::format("a number in {}", range_text(row));
    case OptionType::kFlag:
    case OptionType::kText:
    case OptionType::kChoice:
    case OptionType::kList:
    case OptionType::kFiles:
      return std::string(row.range);
  }
  return std::string(row.range);
}

// The option of a verb that a word names: --NAME, --NAME=VALUE or -N; and whether a value belongs to it.
struct NamedOption {
  const OptionRow* row = nullptr;
  bool is_flag = false;
};

NamedOption named_option(const std::string& word, const std::string& verb) {
  const std::string name = word.substr(0, word.find('='));
  const OptionAlias* alias = name.starts_with("--") ? find_alias(verb, name.substr(2)) : nullptr;
  for (const OptionRow* row : options_of(verb)) {
    const bool is_named = name == fmt::format("--{}", row->name) || (alias != nullptr && row->name == alias->option);
    if (is_named || (row->short_name != 0 && word == std::string{'-', row->short_name}))
      return {row, row->type == OptionType::kFlag || (alias != nullptr && !alias->value.empty())};
  }
  return {};
}

[[noreturn]] void refuse_missing_value(const OptionRow& row, const std::string& next) {
  const bool may_begin_with_dash = row.type == OptionType::kList || row.range == "TEXT";
  throw Error(
      ErrorCode::kUsage, fmt::format("--{}", row.name),
      fmt::format(
          "expected {} after it, got {}{}", value_of(row),
          next.empty() ? "nothing" : fmt::format("the option {}", next),
          may_begin_with_dash ? fmt::format("; write --{}=-x for a value that starts with a dash", row.name) : ""));
}

// What CLI11 would silently accept: --pair=no for --pair, and the next option as the value that was forgotten.
void check_values(const std::vector<std::string>& words) {
  const std::string& verb = words.front();
  for (auto word = words.begin() + 1; word != words.end() && *word != "--"; ++word) {
    const NamedOption option = named_option(*word, verb);
    if (option.row == nullptr) continue;
    const size_t equals = word->find('=');
    if (option.is_flag) {
      if (equals != std::string::npos)
        throw Error(ErrorCode::kUsage, word->substr(0, equals),
                    fmt::format("takes no value, got \"{}\"", word->substr(equals + 1)));
      const bool is_training = verb == "finetune" || verb == "pretrain";  // as scripts of Python write a flag
      if (is_training && word + 1 != words.end() && (word[1] == "True" || word[1] == "False"))
        throw Error(ErrorCode::kUsage, *word,
                    word[1] == "True" ? "takes no value; leave True out" : "takes no value; leave both out");
    } else if (equals == std::string::npos) {
      const auto next = word + 1;
      if (next == words.end()) refuse_missing_value(*option.row, "");
      if (named_option(*next, verb).row != nullptr) refuse_missing_value(*option.row, *next);
      word = next;
    }
  }
}

// As many words as the verb's usage line shows; for verbs that take none, a word is often meant for -m.
void check_arguments(const VerbRow& verb, const std::vector<std::string>& arguments) {
  const size_t most = verb.arguments.empty() ? 0 : verb.arguments.find("...") != std::string_view::npos ? SIZE_MAX : 1;
  if (arguments.size() <= most) return;
  throw Error(ErrorCode::kUsage, std::string(verb.name),
              fmt::format("expected {}, got {}{}", most == 0 ? "no texts" : verb.arguments, fmt::join(arguments, " "),
                          has_option(verb.name, "model") ? "; give a model with -m" : ""));
}

// A flag stands for `value`.
void add_flag(CLI::App& app, const std::string& names, std::string_view option, std::string_view value,
              ParsedWords& parsed) {
  app.add_flag_callback(
      names, [&parsed, name = std::string(option), text = std::string(value)] { parsed.values[name].push_back(text); });
}

// `is_many`: it takes all words up to the next option.
void add_option(CLI::App& app, const std::string& names, std::string_view option, bool is_many, ParsedWords& parsed) {
  const auto add = [&parsed, name = std::string(option)](const std::vector<std::string>& new_values) {
    auto& values = parsed.values[name];
    values.insert(values.end(), new_values.begin(), new_values.end());
  };
  app.add_option_function<std::vector<std::string>>(names, add)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(is_many);
}

// The options of a verb, under their names and their former ones.
void add_options(CLI::App& app, const std::string& verb, ParsedWords& parsed) {
  for (const OptionRow* row : options_of(verb)) {
    const std::string names =
        row->short_name ? fmt::format("-{},--{}", row->short_name, row->name) : fmt::format("--{}", row->name);
    if (row->type == OptionType::kFlag) {
      add_flag(app, names, row->name, "true", parsed);
    } else {
      add_option(app, names, row->name, row->range.ends_with("..."), parsed);
    }
  }
  for (const OptionAlias& alias : option_aliases()) {
    if (find_alias(verb, alias.name) == nullptr) continue;
    const std::string name = fmt::format("--{}", alias.name);
    if (alias.value.empty()) {
      add_option(app, name, alias.option, false, parsed);
    } else {
      add_flag(app, name, alias.option, alias.value, parsed);
    }
  }
}

ParsedWords take_apart(const std::vector<std::string>& words) {
  const std::string& verb = words.front();
  check_values(words);
  ParsedWords parsed;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", parsed.wants_help);
  add_options(app, verb, parsed);
  std::vector<std::string> rest(words.rbegin(), words.rend() - 1);  // CLI11 takes them last first
  try {
    app.parse(rest);
  } catch (const CLI::ArgumentMismatch& error) {  // "--top-k: ...", from -qk
    const std::string message = error.what();
    const OptionRow* row = named_option(message.substr(0, message.find(':')), verb).row;
    if (row == nullptr) throw Error(ErrorCode::kUsage, "", message);
    refuse_missing_value(*row, "");
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::kUsage, "", error.what());
  }
  bool options_ended = false;
  for (const std::string& word : app.remaining()) {
    if (word == "--" && !std::exchange(options_ended, true)) continue;
    parsed.arguments.push_back(word);
  }
  return parsed;
}

// Words that CLI11 left over and that were meant as options: those with a dash before "--".
void refuse_leftover_options(const std::vector<std::string>& words, const ParsedWords& parsed) {
  const auto end = std::find(words.begin(), words.end(), "--");
  for (const std::string& word : parsed.arguments) {
    if (word.size() < 2 || word.front() != '-') continue;
    if (std::find(words.begin() + 1, end, word) != end) refuse_unknown_option(word, words.front());
  }
}

// A variable set to "" counts as not set.
std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// Former names first: current names win.
void apply_environment(Options& options) {
  for (const OptionAlias& alias : option_aliases()) {
    const std::string name = environment_name(alias.name);
    const std::string value = variable(name);
    if (value.empty() || find_alias(options.verb(), alias.name) == nullptr) continue;
    set_alias(alias, value, "environment " + name, options);
  }
  for (const OptionRow* row : options_of(options.verb())) {
    const std::string name = environment_name(row->name);
    if (const std::string value = variable(name); !value.empty()) options.set(row->name, value, "environment " + name);
  }
}

// Variables of the environment that look like those of options, and are not.
std::vector<std::string> notes_of_environment() {
  std::set<std::string, std::less<>> known{"DEBERTA_DATA_DIR",  // the folder of the built-in models
                                           kNotesPrinted};
  for (const OptionRow& row : option_table()) known.insert(environment_name(row.name));
  for (const OptionAlias& alias : option_aliases()) known.insert(environment_name(alias.name));
  const std::string prefix = environment_name("");
  std::vector<std::string_view> endings;
  for (const std::string& name : known) endings.push_back(std::string_view(name).substr(prefix.size()));
  std::vector<std::string> notes;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry, name = text.substr(0, text.find('='));
    if (!name.starts_with(prefix) || known.contains(name)) continue;
    const std::string_view near = nearest_match(name.substr(prefix.size()), endings);
    notes.push_back(fmt::format("note: {} is set, but no option has that variable{}", name,
                                near.empty() ? "" : fmt::format("; did you mean {}{}?", prefix, near)));
  }
  return notes;
}

// --model_name as --model-name: the scripts of Hugging Face have underscores in the names of options.
std::vector<std::string> with_dashes(std::vector<std::string> words) {
  for (auto word = words.begin() + 1; word != words.end() && *word != "--"; ++word) {
    if (word->starts_with("--"))
      std::replace(word->begin(), word->begin() + static_cast<ptrdiff_t>(std::min(word->find('='), word->size())), '_',
                   '-');
  }
  return words;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& raw_words) {
  const std::vector<std::string> words = with_dashes(raw_words);
  if (find_verb(words.front()) == nullptr) refuse_unknown_verb(words.front());
  ParsedWords parsed = take_apart(words);
  refuse_leftover_options(words, parsed);
  CommandLine line{Options(words.front()), parsed.wants_help, {}};
  if (line.wants_help) return line;
  line.notes = notes_of_environment();

  check_arguments(*find_verb(words.front()), parsed.arguments);
  const auto config = parsed.values.find("config");
  if (config != parsed.values.end()) line.options.set("config", config->second, "flag");  // refuses a second one
  const std::string path = config != parsed.values.end() ? config->second.back() : variable("DEBERTA_CONFIG");
  if (!path.empty()) {
    if (const std::string ignored = apply_config_file(path, line.options); !ignored.empty())
      line.notes.push_back(
          fmt::format("note: {}: options that do not apply to {} are ignored: {}", path, words.front(), ignored));
  }
  apply_environment(line.options);
  for (const auto& [name, value] : parsed.values) line.options.set(name, value, "flag");
  line.options.arguments = std::move(parsed.arguments);
  line.options.words = words;
  if (!variable(kNotesPrinted).empty()) line.notes.clear();
  return line;
}

}  // namespace deberta::program
