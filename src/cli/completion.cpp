// The verb `completion`: scripts for shells, made from the option table.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/verbs.h"
#include "deberta/error.h"

namespace deberta::cli {
namespace {

std::string verb_names() {
  std::string names;
  for (const VerbRow& row : verb_table()) names += (names.empty() ? "" : " ") + std::string(row.name);
  return names;
}

std::string bash() {
  std::string cases;
  for (const VerbRow& verb : verb_table()) {
    std::string names;
    for (const OptionRow* row : options_of(verb.name)) names += fmt::format("--{} ", row->name);
    cases += fmt::format("    {}) words=\"{}--help\" ;;\n", verb.name, names);
  }
  return fmt::format(
      "_deberta() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} words=\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then words=\"{}\"; fi\n"
      "  if [[ $current == -* ]]; then\n    case ${{COMP_WORDS[1]}} in\n{}    esac\n  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n}}\n"
      "complete -o filenames -F _deberta deberta\n",
      verb_names(), cases);
}

std::string zsh() {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash();
}

std::string fish() {
  std::string text;
  for (const VerbRow& verb : verb_table()) {
    text += fmt::format("complete -c deberta -n __fish_use_subcommand -a {} -d '{}'\n", verb.name, verb.summary);
    for (const OptionRow* row : options_of(verb.name)) {
      const std::string short_name = row->short_name ? fmt::format(" -s {}", row->short_name) : "";
      const bool takes_value = row->type != OptionType::kFlag;
      text += fmt::format("complete -c deberta -n '__fish_seen_subcommand_from {}'{} -l {}{}\n", verb.name, short_name,
                          row->name, takes_value ? " -r" : "");
    }
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
