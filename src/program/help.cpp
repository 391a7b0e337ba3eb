// The verb `help`, the overview, and the page of each verb.
#include "program/help.h"

#include <fmt/format.h>

#include <vector>

#include "deberta/error.h"
#include "deberta/library.h"
#include "options/options.h"
#include "program/output.h"

namespace deberta::cli {
namespace {

constexpr size_t kColumn = 30;  // where explanations begin
constexpr size_t kWidth = 100;

// `text` wrapped at spaces, every line after the first indented to the column.
std::string wrap(std::string_view text) {
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (used > 0 && used + 1 + end > kWidth - kColumn) {
      out += '\n' + std::string(kColumn, ' ');
      used = 0;
    }
    if (used > 0) {
      out += ' ';
      ++used;
    }
    out += text.substr(0, end);
    used += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string describe(const OptionRow& row) {
  std::string left =
      row.short_name ? fmt::format("  -{}, --{}", row.short_name, row.name) : fmt::format("      --{}", row.name);
  if (row.type == OptionType::kInteger || row.type == OptionType::kNumber) left += " N";
  if (row.type == OptionType::kSize) left += " SIZE";
  if (row.type == OptionType::kText || row.type == OptionType::kFiles) left += fmt::format(" {}", row.range);
  if (row.type == OptionType::kList || row.type == OptionType::kChoice) left += " X";
  std::string right(row.help);
  if (row.type == OptionType::kChoice || row.type == OptionType::kList) right += fmt::format(" [{}]", row.range);
  if (!row.default_value.empty()) right += fmt::format(" (default {})", row.default_value);
  if (left.size() + 2 > kColumn) return left + '\n' + std::string(kColumn, ' ') + wrap(right) + '\n';
  return fmt::format("{:<{}}{}\n", left, kColumn, wrap(right));
}

}  // namespace

std::string overview() {
  std::string text = fmt::format(
      "deberta {}: runs DeBERTa models on the CPU: labels, entailment, entities, answers, masked words, vectors\n\n"
      "usage: deberta VERB [OPTION...] [TEXT...]\n\nverbs:\n",
      version());
  for (const VerbRow& row : verb_table()) text += fmt::format("  {:<12}{}\n", row.name, row.summary);
  text += "\nexamples:\n";
  for (const VerbRow& row : verb_table()) {
    if (row.name != "help" && row.name != "completion") text += fmt::format("  deberta {}\n", row.example);
  }
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
  if (row == nullptr)
    throw Error(ErrorCode::kUsage, "", fmt::format("unknown verb {}; `deberta --help` lists the verbs", verb));
  std::string text = fmt::format("deberta {}: {}\n\nusage: deberta {} [OPTION...]{}{}\n", row->name, row->summary,
                                 row->name, row->arguments.empty() ? "" : " ", row->arguments);
  for (const std::string_view section : option_sections()) {
    std::string lines;
    for (const OptionRow* option : options_of(verb)) {
      if (option->section == section) lines += describe(*option);
    }
    if (!lines.empty()) text += fmt::format("\n{}:\n{}", section, lines);
  }
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

}  // namespace deberta::cli
