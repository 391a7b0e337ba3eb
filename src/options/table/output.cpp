// Options under the heading Output: where results are written, and in which form.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kOutputRows[] = {
    OptionRow{"log-format", 0, kChoice, "text", "text|json", "serve",
              "format of the log, which has a line for each request and never the texts"},
    OptionRow{"log-file", 0, kText, "", "FILE", "serve",
              "append the log to this file instead of standard error; SIGUSR1 reopens it"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "pretrain finetune",
              "folder of the model, its checkpoints and its log; a stopped run is resumed there"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "ablate",
              "folder of the runs, their results and the table; runs that are finished there are not repeated"},
    OptionRow{
        "results", 0, kText, "", "DIR", "ablate",
        "also keep the result and the log of each run here; a run that is here with the same options is not repeated"},
    OptionRow{"tables-only", 0, kFlag, "", "", "ablate", "run nothing; only make the table of the finished runs"},
    OptionRow{"logging-steps", 0, kInteger, "50", "1..1M", "pretrain finetune", "steps between lines of metrics.jsonl"},
    OptionRow{"save-steps", 0, kInteger, "500", "0..16777215", "pretrain finetune",
              "steps between checkpoints; 0: only one, at the end"},
    OptionRow{"save-total-limit", 0, kInteger, "2", "1..1M", "pretrain finetune", "number of checkpoints to keep"},
    OptionRow{"eval-steps", 0, kInteger, "0", "0..16777215", "pretrain",
              "steps between evaluations on the held-out documents; 0: only one, at the end"},
    OptionRow{"eval-lines", 0, kInteger, "500", "0..1000G", "pretrain",
              "lines of each corpus to evaluate on during the run; 0: all, as at the end"},
    OptionRow{"resume", 0, kChoice, "auto", "auto|never", "pretrain finetune",
              "what to do with a folder that has checkpoints of a run; auto: resume from the newest; never: refuse the "
              "folder"},
    OptionRow{"resume-override", 0, kList, "", "NAMES", "pretrain finetune",
              "options that may differ from those of the run that is resumed"},
    OptionRow{"dry-run", 0, kFlag, "", "", "pretrain finetune",
              "show sizes and some sequences of the first step, without training"},
    OptionRow{"find-lr", 0, kFlag, "", "", "pretrain finetune",
              "try learning rates from 1e-8 to 1, one step each, show the losses and where they fall fastest, and keep "
              "nothing"},
    OptionRow{"card-base-model", 0, kText, "", "ID", "pretrain finetune",
              "for the model card: the hub ID of the base model; default: --model, if that is a hub ID"},
    OptionRow{"card-license", 0, kText, "", "ID", "pretrain finetune",
              "for the model card: the licence, by the hub's name (mit, apache-2.0, cc-by-4.0, other)"},
    OptionRow{"card-language", 0, kList, "", "CODES", "pretrain finetune",
              "for the model card: the languages (en, de, multilingual)"},
    OptionRow{"card-datasets", 0, kList, "", "IDS", "pretrain finetune",
              "for the model card: the hub IDs of the training data sets"},
    OptionRow{"eval-steps", 0, kInteger, "0", "0..16777215", "finetune", "steps between evaluations; 0: one per epoch"},
    OptionRow{"best-metric", 0, kText, "", "NAME", "finetune",
              "the metric for choosing the best model and for early stopping: one of the task's, or loss (log_loss for "
              "classes, mse for scores, eval_loss otherwise); the task's other metrics break ties (default: the main "
              "metric of the task; deberta eval --list)"},
    OptionRow{"early-stopping-patience", 0, kInteger, "0", "0..1M", "finetune",
              "stop after this many evaluations without an improvement; 0: never"},
    OptionRow{"output", 'o', kText, "", "FILE", "replay", "write losses, gradients and weights here"},
    OptionRow{"output", 'o', kText, "", "FILE", "chart",
              "write the picture to FILE, which is replaced only when it is complete; - is standard output"},
    OptionRow{"keep", 0, kList, "all", "all|none|NAMES", kTextVerbs,
              "keys or columns of the input row to copy to the output; all: everything except the texts, in json and "
              "jsonl; if it is given explicitly, in csv and tsv too, with the texts, as the first columns; NAMES: only "
              "these, as the first columns, in every format"},
    OptionRow{"redact-map", 0, kText, "", "FILE", "extract",
              "with --redact: write what each placeholder stands for to FILE, as JSON, from which --restore puts it "
              "back"},
    OptionRow{"output-dtype", 0, kChoice, "fp32", "fp32|fp16|bf16", "embed",
              "number format of the .npy (fp32, fp16) or .safetensors file (-o)"},
    OptionRow{"page", 0, kText, "", "FILE", "analyze",
              "write a page for a browser here, which needs no server (heads: c2c, c2p, p2c, sum and weights of every "
              "head), or "
              "the picture alone if the name ends in .svg, for one text of at most 256 tokens; -o FILE.html and "
              "FILE.svg do the "
              "same; with -o of another name the figures are written too"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "check",
              "write a copy to this new folder, with every mistake corrected that needs no decision"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "convert", "the new folder; it appears only once it is complete"},
    OptionRow{"shard-size", 0, kSize, "5G", "1..1000G", "convert",
              "maximum size of a weight file; a larger model is written as shards with an index"},
    OptionRow{"verify", 0, kFlag, "", "", "convert",
              "before the new folder appears, read it back, compare every tensor, and run both models; int8: also run "
              "the texts in fp32 and int8, and refuse a cosine below 0.999"},
    OptionRow{"write-predictions", 0, kText, "", "FILE", "eval",
              "also write the answers, in the format that --predictions reads"},
    OptionRow{
        "chart", 0, kText, "", "FILE", "eval",
        "with --published: also draw the results here, as SVG: bars for each task, and MNLI against the number of "
        "parameters"},
    OptionRow{"output-dir", 0, kText, "", "DIR", "eval",
              "also write DIR/all_results.json with the keys of the Hugging Face scripts (eval_accuracy, ...)"},
    OptionRow{"output", 'o', kText, "", "FILE",
              "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval tokenize "
              "forward",
              "write to FILE; its extension sets the format if --format is auto; an existing file is replaced only "
              "when the run is complete; - is standard output"},
    OptionRow{"to", 0, kText, "", "DIR", kFileVerbs,
              "with --files: the folder of the answers, a file for each input with the input's name and the ending of "
              "the format (auto: tsv; of Parquet: parquet); in DIR/.deberta what is done"},
    OptionRow{"format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl|conll", "ner",
              "output format; auto: a table on a terminal, tsv elsewhere; conll: one word per line with its label "
              "(after the label of the input, if there is one), a blank line after each sentence"},
    OptionRow{
        "format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl|trec", "rerank",
        "output format; auto: a table on a terminal, tsv elsewhere; trec: lines of a TREC run (query, Q0, document, "
        "rank, score, deberta) with the ids of the input, else the numbers of rows and documents"},
    OptionRow{"format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl",
              "classify nli zero-shot extract qa choose fill score embed detect analyze eval tokenize inspect check "
              "convert info",
              "output format; auto: a table on a terminal, tsv elsewhere"},
    OptionRow{
        "format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl", "bench",
        "output format; auto: a table on a terminal, tsv elsewhere; jsonl: each figure as soon as it is measured"},
    OptionRow{"digits", 0, kInteger, "0", "0..17",
              "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval",
              "significant digits of scores; 0: as many as are needed to read back the same value"},
    OptionRow{"no-header", 0, kFlag, "", "", kTableVerbs, "no header line in tsv and csv output"},
    OptionRow{"bom", 0, kFlag, "", "", kTableVerbs,
              "begin csv output with a byte order mark, by which Excel recognises UTF-8"},
    OptionRow{"man", 0, kFlag, "", "", "help", "print the manual page of all verbs, as troff"},
};
static_assert(are_rows(kOutputRows));

}  // namespace

std::span<const OptionRow> output_rows() {
  return kOutputRows;
}

}  // namespace deberta::option_rows
