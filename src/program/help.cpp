// The verb `help`, the overview, and the page of each verb.
#include "program/help.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "deberta/error.h"
#include "deberta/library.h"
#include "options/options.h"
#include "program/output.h"

namespace deberta::program {
namespace {

constexpr size_t kColumn = 30;  // where explanations begin
constexpr size_t kWidth = 100;  // unless the caller sets another

// How much of a long word fits: up to the last | in it.
size_t part_length(std::string_view word, size_t room) {
  const size_t mark = word.substr(0, room).rfind('|');
  return mark == std::string_view::npos ? room : mark + 1;
}

// `text` wrapped at spaces, every line after the first indented to the column.
std::string wrap(std::string_view text, size_t width) {
  const std::string margin = '\n' + std::string(kColumn, ' ');
  const size_t room = width - kColumn;
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (used > 0) {
      const bool fits = used + 1 + word.size() <= room;
      out += fits ? " " : margin;
      used = fits ? used + 1 : 0;
    }
    for (; word.size() > room; word.remove_prefix(part_length(word, room)))  // choices without spaces
      out += std::string(word.substr(0, part_length(word, room))) + margin;
    out += word;
    used += word.size();
  }
  return out;
}

std::string describe(const OptionRow& row, size_t width) {
  std::string left =
      row.short_name ? fmt::format("  -{}, --{}", row.short_name, row.name) : fmt::format("      --{}", row.name);
  if (row.type == OptionType::kInteger || row.type == OptionType::kNumber) left += " N";
  if (row.type == OptionType::kSize) left += " SIZE";
  if (row.type == OptionType::kText || row.type == OptionType::kFiles) left += fmt::format(" {}", row.range);
  if (row.type == OptionType::kList || row.type == OptionType::kChoice) left += " X";
  std::string right = help_text(row);
  if (row.type == OptionType::kChoice || row.type == OptionType::kList) right += fmt::format(" [{}]", row.range);
  if (!row.default_value.empty()) right += fmt::format(" (default {})", row.default_value);
  if (left.size() + 2 > kColumn) return left + '\n' + std::string(kColumn, ' ') + wrap(right, width) + '\n';
  return fmt::format("{:<{}}{}\n", left, kColumn, wrap(right, width));
}

// Those that most users need, in the order of the verb's row, then the others by section.
std::string options_text(const VerbRow& verb, size_t width) {
  std::string lines;
  const std::vector<const OptionRow*> common = common_options(verb);
  for (const OptionRow* option : common) lines += describe(*option, width);
  std::string text = lines.empty() ? "" : fmt::format("\nMost used:\n{}", lines);
  for (const std::string_view section : option_sections()) {
    lines.clear();
    for (const OptionRow* option : options_of(verb.name)) {
      const bool is_shown = std::ranges::find(common, option) != common.end();
      if (option->section == section && !is_shown) lines += describe(*option, width);
    }
    if (!lines.empty()) text += fmt::format("\n{}:\n{}", section, lines);
  }
  return text;
}

// A readable part of the terminal's columns.
size_t page_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return kWidth;
  constexpr size_t kNarrowest = 60, kWidest = 120;
  return size.ws_col == 0 ? kWidth : std::clamp<size_t>(size.ws_col, kNarrowest, kWidest);
}

}  // namespace

std::string overview() {
  std::string text = fmt::format(
      "deberta {}: runs DeBERTa models on the CPU: labels, entailment, entities, answers, masked words, vectors\n\n"
      "usage: deberta VERB [OPTION...] [TEXT...]\n\nverbs:\n",
      version());
  constexpr int kNames = 17;
  for (const VerbRow& row : verb_table()) text += fmt::format("  {:<{}}{}\n", row.name, kNames, row.summary);
  for (const ScriptRow& row : script_table()) text += fmt::format("  {:<{}}{}\n", row.name, kNames, row.summary);
  text += "\nexamples:\n";
  for (const VerbRow& row : verb_table()) {
    if (row.name != "help" && row.name != "completion") text += fmt::format("  deberta {}\n", row.example);
  }
  for (const ScriptRow& row : script_table()) text += fmt::format("  ./run {}\n", row.example);
  text +=
      "\n`deberta VERB --help` shows the options of a verb. DIR is a model directory: config.json, weights\n"
      "(model.safetensors or pytorch_model.bin) and tokenizer (spm.model, vocab.json with\n"
      "merges.txt, bpe_encoder.bin or tokenizer.json); or the name of a local model:\n"
      "builtin:NAME, or ORG/NAME in the hub cache (`deberta info` lists them).\n"
      "Without texts, rows are read from standard input.\n";
  return text;
}

std::string help_of(std::string_view verb) {
  const VerbRow* row = find_verb(verb);
  refuse_script_verb(verb);
  if (row == nullptr)
    throw Error(ErrorCode::kUsage, "", fmt::format("unknown verb {}; `deberta --help` lists the verbs", verb));
  std::string text = fmt::format("deberta {}: {}\n\nusage: deberta {} [OPTION...]{}{}\n", row->name, row->summary,
                                 row->name, row->arguments.empty() ? "" : " ", row->arguments);
  text += options_text(*row, page_width());
  if (std::ranges::any_of(options_of(verb), [](const OptionRow* option) { return option->type == OptionType::kSize; }))
    text += "\nSIZE: a number, with k, M or G for powers of 1000 and KiB, MiB or GiB for those of 1024.\n";
  text += fmt::format(
      "\nEvery option can also be set in the environment (DEBERTA_MODEL=DIR) or in a --config file.\n\nexample:\n  "
      "deberta {}\n",
      row->example);
  return text;
}

int run(const HelpVerb& options) {
  const std::string text = options.man                 ? manual()
                           : options.arguments.empty() ? overview()
                                                       : help_of(options.arguments.front());
  print(text);
  return 0;
}

}  // namespace deberta::program
