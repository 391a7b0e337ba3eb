// The table of options from its sections (table/), and the former names of options. No other room names the type,
// default or range of an option; those of a parameter of tasks are in pipeline/parameters.h.
#include <algorithm>
#include <array>
#include <vector>

#include "options/options.h"
#include "options/table/rows.h"

namespace deberta {
namespace {

struct Section {
  std::string_view name;  // as pages show it, in this order
  std::span<const OptionRow> (*rows)();
};
constexpr Section kSections[] = {
    {"Model", option_rows::model_rows},         {"Server", option_rows::server_rows},
    {"Limits", option_rows::limits_rows},       {"Input", option_rows::input_rows},
    {"Training", option_rows::training_rows},   {"Replaced tokens", option_rows::replaced_tokens_rows},
    {"Answer", option_rows::answer_rows},       {"Figures", option_rows::figure_rows},
    {kOutputSection, option_rows::output_rows}, {"Compute", option_rows::compute_rows},
    {"General", option_rows::general_rows},
};

// Former names. The last column is what a former flag meant; where empty, the given value is used.
constexpr std::array kAliases = {
    OptionAlias{"max-seq-len", "qa", "max-tokens", ""},
    OptionAlias{"doc-stride", "qa eval finetune", "stride", ""},
    OptionAlias{"null-threshold", "qa", "no-answer-threshold", ""},
    OptionAlias{"top-n", "rerank", "top-k", ""},
    OptionAlias{"to", "convert", "output-dir", ""},
    OptionAlias{"fix", "check", "output-dir", ""},
    OptionAlias{"out", "analyze", "page", ""},
    OptionAlias{"na-threshold", "eval", "no-answer-threshold", ""},
    OptionAlias{"raw", "classify rerank", "activation", "none"},
    OptionAlias{"calibrate", "convert", "calibration-data", ""},
    OptionAlias{"budget", "bench", "min-time", ""},
    OptionAlias{"against", "bench", "baseline", ""},
    OptionAlias{"mask-share", "eval", "mlm-probability", ""},
    OptionAlias{"json", "bench info", "format", "jsonl"},
    OptionAlias{"bf16", "pretrain finetune", "dtype", "bf16"},
    // Names of the Hugging Face scripts.
    OptionAlias{"model-name-or-path", "pretrain finetune", "model", ""},
    OptionAlias{"max-seq-length", "pretrain finetune", "max-tokens", ""},
    OptionAlias{"per-device-train-batch-size", "pretrain finetune", "batch-size", ""},
    OptionAlias{"global-batch-size", "pretrain finetune", "batch-size", ""},
    OptionAlias{"warmup-ratio", "pretrain finetune", "warmup-steps", ""},
    OptionAlias{"task-name", "finetune", "task", ""},
    OptionAlias{"metric-for-best-model", "finetune", "best-metric", ""},
    OptionAlias{"text-column-name", "finetune", "input-field", ""},
    OptionAlias{"label-column-name", "finetune", "label-field", ""},
    // Names of the original's run.py.
    OptionAlias{"init-model", "pretrain finetune", "model", ""},
    OptionAlias{"train-batch-size", "pretrain finetune", "batch-size", ""},
    OptionAlias{"accumulative-update", "pretrain finetune", "gradient-accumulation-steps", ""},
    OptionAlias{"warmup", "pretrain finetune", "warmup-steps", ""},
    OptionAlias{"lr-schedule", "pretrain finetune", "lr-scheduler-type", ""},
    OptionAlias{"cls-drop-out", "finetune", "cls-dropout", ""},
    OptionAlias{"lora-r", "finetune", "lora-rank", ""},
    OptionAlias{"dump", "pretrain finetune", "save-steps", ""},
};

constexpr std::array kScripts = {
    ScriptRow{"train-tokenizer", "make a tokenizer from text files (in a checkout, by ./run: docs/guides/pretrain.md)",
              "train-tokenizer --vocab-size 32000 -o TOKENIZER corpus.txt.xz"},
};

static_assert(std::ranges::all_of(kAliases,
                                  [](const OptionAlias& alias) { return option_rows::are_verbs(alias.verbs); }));

}  // namespace

std::span<const OptionAlias> option_aliases() {
  return kAliases;
}
std::span<const VerbRow> verb_table() {
  return option_rows::kVerbs;
}
std::span<const ScriptRow> script_table() {
  return kScripts;
}
std::span<const OptionRow> option_table() {
  static const std::vector<OptionRow> all = [] {
    std::vector<OptionRow> rows;
    for (const Section& section : kSections) {
      for (OptionRow row : section.rows()) {
        row.section = section.name;
        rows.push_back(row);
      }
    }
    return rows;
  }();
  return all;
}
std::span<const std::string_view> option_sections() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names;
    for (const Section& section : kSections) names.push_back(section.name);
    return names;
  }();
  return all;
}

}  // namespace deberta
