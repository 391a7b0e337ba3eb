// Options under the heading Model: which model is read, and how.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

// The names in the table of published sizes.
#define DEBERTA_SIZE(name, ...) name ", "
constexpr std::string_view kConfigNameHelp =
    "shape of a new model: "
#include "config/published_sizes.inc"
    "or a config.json";
constexpr std::string_view kSizesHelp =
    "print nothing but the parameters and operations of these models by part, beside those without relative terms: "
#include "config/published_sizes.inc"
    "config.json files or model directories";
#undef DEBERTA_SIZE

constexpr OptionRow kModelRows[] = {
    OptionRow{"model", 'm', kFiles, "", "[NAME[,ALIAS...]=]DIR", "serve",
              "model to serve, and its names in requests (default: the last part of the path), an alias also as "
              "ORG/NAME; may be repeated; without it, all built-in models"},
    OptionRow{"model", 'm', kText, "", "DIR",
              "classify nli ner extract fill score embed detect analyze eval tokenize forward bench",
              "model directory (config.json, weights, tokenizer), builtin[:NAME], or ORG/NAME[@REVISION] in the local "
              "hub cache (default: the built-in model for the verb, where there is one)"},
    OptionRow{"model", 'm', kText, "", "DIR", "zero-shot qa choose rerank inspect check convert info",
              "model directory (config.json, weights, tokenizer), builtin:NAME, or ORG/NAME[@REVISION] in the local "
              "hub cache"},
    OptionRow{"model", 'm', kText, "", "DIR", "pretrain",
              "model to begin with: its configuration, weights and, without --tokenizer-name, tokenizer"},
    OptionRow{"model", 'm', kText, "", "DIR", "finetune replay",
              "model to begin with: its configuration, weights and tokenizer; required"},
    OptionRow{"tokenizer-name", 0, kText, "", "DIR", "pretrain",
              "folder with the tokenizer, as `train-tokenizer` writes it"},
    OptionRow{"new-embeddings", 0, kFlag, "", "", "pretrain",
              "begin with -m and a tokenizer (--tokenizer-name) whose pieces differ: the tables of words are new, "
              "except for the rows of pieces that both tokenizers have"},
    OptionRow{"add-tokens", 0, kList, "", "TOKENS", "pretrain finetune",
              "tokens to add to the tokenizer, each with its own row of the tables; \\n is a line break, \\t a tab"},
    OptionRow{"config-name", 0, kText, "v3-base", "NAME", "pretrain", kConfigNameHelp},
    OptionRow{"config-overrides", 0, kList, "", "KEY=VALUE", "pretrain",
              "keys of config.json to set, such as num_hidden_layers=4,hidden_size=256; hidden_size alone also sets "
              "heads of size 64 and an intermediate_size four times as large"},
    OptionRow{"decoder-passes", 0, kInteger, "auto", "auto|0..3", "pretrain replay",
              "passes of the enhanced mask decoder; 0: the head reads the last layer; auto: as set in the model's "
              "config.json, else 2"},
    OptionRow{"load", 0, kChoice, "mmap", "mmap|read", kWeightVerbs,
              "map the weights, or read them into memory: use read on network file systems and for files that may be "
              "truncated while in use"},
    OptionRow{"no-crc", 0, kFlag, "", "", kWeightVerbs, "do not check the CRC-32 of weights in a pytorch_model.bin"},
    OptionRow{"sizes", 0, kList, "", "NAMES", "info", kSizesHelp},
    OptionRow{"length", 0, kInteger, "512", "1..1048576", "info",
              "with --sizes: tokens of the sequence whose operations are counted"},
};
static_assert(are_rows(kModelRows));

}  // namespace

std::span<const OptionRow> model_rows() {
  return kModelRows;
}

}  // namespace deberta::option_rows
