// The manual page, `deberta help --man`: troff made from the option table. docs/deberta.1 is its output.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "deberta/library.h"
#include "options/options.h"
#include "program/help.h"

namespace deberta::program {
namespace {

// Text escaped for troff: hyphens stay hyphens, backslashes are shown, no line looks like a request.
std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string bold(std::string_view text) {
  return "\\fB" + escape(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + escape(text) + "\\fR";
}

std::string_view value_word(const OptionRow& row) {
  switch (row.type) {
    case OptionType::kFlag:
      return "";
    case OptionType::kInteger:
    case OptionType::kNumber:
      return "N";
    case OptionType::kSize:
      return "SIZE";
    case OptionType::kText:
    case OptionType::kFiles:
      return row.range;
    case OptionType::kChoice:
    case OptionType::kList:
      return "X";
  }
  return "";
}

std::string describe(const OptionRow& row) {
  std::string text = ".TP\n";
  if (row.short_name != 0) text += bold(std::string{'-', row.short_name}) + ", ";
  text += bold("--" + std::string(row.name));
  if (const std::string_view word = value_word(row); !word.empty()) text += " " + italic(word);
  text += "\n" + escape(help_text(row));
  if (row.type == OptionType::kChoice || row.type == OptionType::kList) text += " [" + escape(row.range) + "]";
  if (!row.default_value.empty()) text += " (default " + escape(row.default_value) + ")";
  text += ".\n";
  if (row.verbs != "*") text += "Verbs: " + escape(row.verbs) + ".\n";
  return text;
}

std::string verbs() {
  std::string text = ".SH VERBS\n";
  for (const VerbRow& row : verb_table()) {
    text += fmt::format(".TP\n{} {}\n{}.\n.br\n{}\n", bold(row.name), italic(row.arguments), escape(row.summary),
                        "deberta " + escape(row.example));
  }
  return text;
}

std::string options() {
  std::string text = ".SH OPTIONS\n";
  for (const std::string_view section : option_sections()) {
    text += fmt::format(".SS {}\n", section);
    for (const OptionRow& row : option_table()) {
      if (row.section == section) text += describe(row);
    }
  }
  return text;
}

constexpr std::string_view kDescription =
    ".SH DESCRIPTION\n"
    "Runs DeBERTa models (versions 1, 2 and 3) on the CPU, exactly as their authors' code does.\n"
    "Data goes to standard output, messages to standard error.\n"
    "Without texts, rows are read from standard input and answered in order.\n"
    "\\fBdeberta help\\fR \\fIVERB\\fR shows a single verb.\n";

constexpr std::string_view kRest =
    ".SH ENVIRONMENT\n"
    "Every option has a variable: \\fBDEBERTA_\\fR and its name in capitals, with _ for \\-, such as "
    "\\fBDEBERTA_MODEL\\fR.\n"
    "A flag wins over the environment, the environment over the \\fB\\-\\-config\\fR file.\n"
    ".TP\n\\fBDEBERTA_DATA_DIR\\fR\n"
    "Folder whose \\fImodels\\fR contains the built\\-in models, instead of \\fIPREFIX/share/deberta\\fR.\n"
    ".TP\n\\fBHF_HUB_CACHE\\fR, \\fBHF_HOME\\fR, \\fBXDG_CACHE_HOME\\fR\n"
    "The hub cache; the first that is set counts, as \\fIHF_HUB_CACHE\\fR, \\fIHF_HOME/hub\\fR,\n"
    "\\fIXDG_CACHE_HOME/huggingface/hub\\fR; else \\fI~/.cache/huggingface/hub\\fR.\n"
    ".SH EXIT STATUS\n"
    ".TP\n0\nSuccess.\n"
    ".TP\n1\nFailure; also if a row could not be answered, or \\fBcheck\\fR found errors.\n"
    ".TP\n2\nThe command line was wrong.\n"
    ".TP\n129, 130, 143\nStopped by a signal.\n"
    ".SH FILES\n"
    ".TP\n\\fIPREFIX/share/deberta/models/NAME\\fR\nBuilt\\-in models.\n"
    ".TP\n\\fIPREFIX/share/doc/deberta\\fR\nThe documents.\n";

}  // namespace

std::string manual() {
  return fmt::format(
             ".\\\" Made from the option table by `deberta help --man`.\n"
             ".TH DEBERTA 1 \"\" \"deberta {}\" \"User Commands\"\n"
             ".SH NAME\ndeberta \\- run DeBERTa models\n"
             ".SH SYNOPSIS\n\\fBdeberta\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] [\\fITEXT\\fR...]\n",
             version()) +
         std::string(kDescription) + verbs() + options() + std::string(kRest);
}

}  // namespace deberta::program
