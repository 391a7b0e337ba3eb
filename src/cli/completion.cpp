// The verb `completion`: scripts for shells, made from the option table.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "cli/verbs.h"
#include "deberta/error.h"

namespace deberta::cli {
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

// What an argument of a verb may be, where that is known.
std::string arguments_of(const VerbRow& verb) {
  if (verb.name == "completion") return std::string(kShells);
  return verb.name == "help" ? verb_names() : "";
}

std::string choices_of(const OptionRow& row) {
  if (row.type != OptionType::kChoice) return "";
  std::string choices(row.range);
  std::replace(choices.begin(), choices.end(), '|', ' ');
  return choices;
}

std::string names_of(const OptionRow& row, std::string_view verb) {
  const std::string name = fmt::format("{}:--{}", verb, row.name);
  return row.short_name != 0 ? fmt::format("{}|{}:-{}", name, verb, row.short_name) : name;
}

// Words by what stands before: the values of an option, else the options and arguments of the verb, else files.
std::string bash() {
  std::string values, cases;
  for (const VerbRow& verb : verb_table()) {
    std::string names;
    for (const OptionRow* row : options_of(verb.name)) {
      names += fmt::format("--{} ", row->name);
      const std::string choices = choices_of(*row);
      if (!choices.empty()) values += fmt::format("    {}) words=\"{}\" ;;\n", names_of(*row, verb.name), choices);
    }
    const std::string arguments = arguments_of(verb);
    cases += fmt::format("      {}:-*) words=\"{}--help\" ;;\n", verb.name, names);
    if (!arguments.empty()) cases += fmt::format("      {}:*) words=\"{}\" ;;\n", verb.name, arguments);
  }
  return fmt::format(
      "_deberta() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words=\n"
      "  local before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  case $verb:$before in\n{}"
      "    *:-m|*:--model) words=\"$({})\" ;;\n"
      "    *)\n      case $verb:$current in\n{}      esac ;;\n  esac\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then words=\"{} --help --version\"; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n}}\n"
      "complete -o filenames -F _deberta deberta\n",
      values, kModels, cases, verb_names());
}

std::string zsh() {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash();
}

// In single quotes of fish.
std::string quote(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return "'" + out + "'";
}

std::string fish_option(const VerbRow& verb, const OptionRow& row) {
  std::string text = fmt::format("complete -c deberta -n '__fish_seen_subcommand_from {}' -l {}", verb.name, row.name);
  if (row.short_name != 0) text += fmt::format(" -s {}", row.short_name);
  const std::string choices = row.name == "model" ? fmt::format("({})", kModels) : choices_of(row);
  if (row.type != OptionType::kFlag) text += " -r";
  if (!choices.empty()) text += fmt::format(" -a \"{}\"", choices);
  return text + "\n";
}

std::string fish() {
  std::string text;
  for (const VerbRow& verb : verb_table()) {
    text += fmt::format("complete -c deberta -n __fish_use_subcommand -a {} -d {}\n", verb.name, quote(verb.summary));
    for (const OptionRow* row : options_of(verb.name)) text += fish_option(verb, *row);
    const std::string arguments = arguments_of(verb);
    if (!arguments.empty())
      text += fmt::format("complete -c deberta -f -n '__fish_seen_subcommand_from {}' -a '{}'\n", verb.name, arguments);
  }
  return text;
}

}  // namespace

int run_completion(const Options& options) {
  const std::string shell = options.arguments.empty() ? "" : options.arguments.front();
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    throw Error(ErrorCode::kUsage, "completion", fmt::format("expected bash, zsh or fish, got \"{}\"", shell));
  }
  const std::string text = shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish();
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace deberta::cli
