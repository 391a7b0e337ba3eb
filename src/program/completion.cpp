// The verb `completion`: scripts for shells, made from the option table.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "deberta/error.h"
#include "metrics/task_table.h"
#include "options/options.h"
#include "program/help.h"
#include "program/output.h"

namespace deberta::program {
namespace {

constexpr std::string_view kShells = "bash zsh fish";
// The models that -m can name, as `info` lists them.
constexpr std::string_view kModels =
    "deberta info --format tsv 2>/dev/null | sed -n 's/^models_found[[:space:]]*\\([^ ]*\\).*/\\1/p'";

std::string verb_names() {
  std::string names;
  for (const VerbRow& row : verb_table()) names += (names.empty() ? "" : " ") + std::string(row.name);
  return names;
}

std::string task_names() {
  std::string names;
  for (const TaskRow& row : task_table()) names += (names.empty() ? "" : " ") + std::string(row.name);
  return names;
}

// What can be completed at one place: words, and what bash's compgen calls f (files) and d (folders).
struct Values {
  std::string words = "";
  std::string_view places = "";
};

// "a|b|NAMES" -> "a b": a word in capitals is a placeholder.
std::string words_of(std::string_view range) {
  std::string words;
  while (!range.empty()) {
    const size_t end = std::min(range.find('|'), range.size());
    const std::string_view word = range.substr(0, end);
    if (!word.empty() && (word.front() < 'A' || word.front() > 'Z'))
      words += (words.empty() ? "" : " ") + std::string(word);
    range.remove_prefix(std::min(end + 1, range.size()));
  }
  return words;
}

Values values_of(const OptionRow& row) {
  if (row.name == "task") return {task_names()};
  if (row.name == "model" || row.name == "diff") return {fmt::format("$({})", kModels), "d"};
  if (row.type == OptionType::kChoice || row.type == OptionType::kList) return {words_of(row.range)};
  if (row.range == "FILE" || row.range == "PATTERN...") return {"", "f"};
  return {"", row.range == "DIR" ? "d" : ""};
}

// What an argument of a verb may be, where that is known.
Values arguments_of(const VerbRow& verb) {
  if (verb.name == "completion") return {std::string(kShells)};
  if (verb.name == "help") return {verb_names()};
  return {"", verb.arguments.find("FILE") == std::string_view::npos ? "" : "f"};
}

std::string names_of(const OptionRow& row, std::string_view verb) {
  const std::string name = fmt::format("{}:--{}", verb, row.name);
  return row.short_name != 0 ? fmt::format("{}|{}:-{}", name, verb, row.short_name) : name;
}

std::string bash_case(const std::string& pattern, const Values& values) {
  return fmt::format("    {}) words=\"{}\" places={} ;;\n", pattern, values.words, values.places);
}

// After an option its values, else the options and arguments of the verb. Bash splits --name=value into three words.
std::string bash() {
  std::string values, cases;
  for (const VerbRow& verb : verb_table()) {
    std::string names;
    for (const OptionRow* row : options_of(verb.name)) {
      names += fmt::format("--{} ", row->name);
      if (row->type != OptionType::kFlag) values += bash_case(names_of(*row, verb.name), values_of(*row));
    }
    cases += "  " + bash_case(fmt::format("{}:-*", verb.name), {names + "--help"});
    cases += "  " + bash_case(fmt::format("{}:*", verb.name), arguments_of(verb));
  }
  return fmt::format(
      "_deberta() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words= places= IFS=$' "
      "\\t\\n'\n"
      "  local before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  if [ \"$current\" = = ]; then current=; elif [ \"$before\" = = ]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; "
      "fi\n"
      "  case $verb:$before in\n{}"
      "    *)\n      case $verb:$current in\n{}      esac ;;\n  esac\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then words=\"{} --help --version\" places=; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [ -z \"$places\" ] || {{ IFS=$'\\n'; COMPREPLY+=($(compgen -\"$places\" -- \"$current\")); }}\n}}\n"
      "complete -o filenames -F _deberta deberta\n",
      values, cases, verb_names());
}

std::string zsh() {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash();
}

// In single quotes, as fish reads them.
std::string quote(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return "'" + out + "'";
}

// -F where files are among the values, else -f.
std::string fish_values(const Values& values) {
  std::string words = values.words.starts_with('$') ? values.words.substr(1) : values.words;
  if (values.places == "d") words += (words.empty() ? "" : " ") + std::string("(__fish_complete_directories)");
  return fmt::format(" {}{}", values.places == "f" ? "-F" : "-f",
                     words.empty() ? "" : fmt::format(" -a \"{}\"", words));
}

std::string fish_option(const VerbRow& verb, const OptionRow& row) {
  std::string text = fmt::format("complete -c deberta -n '__fish_seen_subcommand_from {}' -l {}", verb.name, row.name);
  if (row.short_name != 0) text += fmt::format(" -s {}", row.short_name);
  if (row.type != OptionType::kFlag) text += " -r" + fish_values(values_of(row));
  return text + "\n";
}

std::string fish() {
  std::string text;
  for (const VerbRow& verb : verb_table()) {
    text +=
        fmt::format("complete -c deberta -f -n __fish_use_subcommand -a {} -d {}\n", verb.name, quote(verb.summary));
    for (const OptionRow* row : options_of(verb.name)) text += fish_option(verb, *row);
    text += fmt::format("complete -c deberta -n '__fish_seen_subcommand_from {}'{}\n", verb.name,
                        fish_values(arguments_of(verb)));
  }
  return text;
}

}  // namespace

int run(const CompletionVerb& options) {
  const std::string shell = options.arguments.empty() ? "" : options.arguments.front();
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    throw Error(ErrorCode::kUsage, "completion", fmt::format("expected bash, zsh or fish, got \"{}\"", shell));
  }
  print(shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish());
  return 0;
}

}  // namespace deberta::program
