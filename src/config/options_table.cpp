// The rows: verbs and options. Nothing else in the program names an option's type, default or range.
#include <array>

#include "config/options.h"

namespace deberta {
namespace {

using enum OptionType;

constexpr std::string_view kTextVerbs = "classify fill tokenize";
constexpr std::string_view kModelVerbs = "classify fill forward";

constexpr std::array kVerbs = {
    VerbRow{"classify", "label texts or pairs of texts; regression scores", "[TEXT...]",
            "classify -m DIR \"a gorgeous , witty , seductive movie .\""},
    VerbRow{"fill", "guess the masked tokens of a text", "[TEXT...]",
            "fill -m DIR \"The capital of France is [MASK].\""},
    VerbRow{"tokenize", "show ids, pieces and offsets, or turn ids back into text", "[TEXT...]",
            "tokenize -m DIR \"Hello world\""},
    VerbRow{"forward", "run the model on ids from a file: every layer, pooled, logits, attention scores", "",
            "forward -m DIR --ids in.safetensors -o out.safetensors"},
    VerbRow{"inspect", "list the tensors of a model, or the differences of two", "", "inspect -m DIR --stats"},
    VerbRow{"check", "look for mistakes in a model directory", "", "check -m DIR"},
    VerbRow{"info", "show the version, the processor, the kernels and, with -m, a model", "", "info"},
    VerbRow{"completion", "print a completion script for bash, zsh or fish", "SHELL", "completion bash"},
    VerbRow{"help", "show help for a verb", "[VERB]", "help classify"},
};

constexpr std::array kOptions = {
    OptionRow{"model", 'm', kText, "", "DIR", "classify fill tokenize forward inspect check info", "Model",
              "model directory: config.json, model.safetensors (or its shards), spm.model", "0.1.0", false},
    OptionRow{"kernels", 0, kChoice, "auto", "auto|check|reference|avx2|avx512", "classify fill forward info",
              "Compute", "kernels to use; check runs the reference beside each and reports the worst difference",
              "0.1.0", false},
    OptionRow{"threads", 0, kInteger, "0", "0..1024", kModelVerbs, "Compute",
              "threads; 0: the processors that this process may use", "0.1.0", false},
    OptionRow{"compat", 0, kChoice, "original", "original|hf", kModelVerbs, "Compute",
              "where the original code and transformers differ (distances beyond the table), whom to follow", "0.1.0",
              false},
    OptionRow{"batch-tokens", 0, kSize, "16k", "1..16M", "classify fill", "Compute", "tokens computed at once", "0.1.0",
              false},
    OptionRow{"input", 'i', kText, "", "FILE", kTextVerbs, "Input",
              "read rows from FILE (- is standard input, which is also read when no text is given)", "0.1.0", false},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|text|tsv|csv|jsonl|json", kTextVerbs, "Input",
              "form of the input; auto goes by the file's ending, else one text a line", "0.1.0", false},
    OptionRow{
        "input-field", 0, kList, "", "NAMES", kTextVerbs, "Input",
        "columns or keys that hold the text and, after a comma, its pair (default: text,text_pair); numbers count "
        "columns from 1 of a file without a header line",
        "0.1.0", false},
    OptionRow{"pair", 0, kFlag, "", "", "classify tokenize", "Input",
              "texts given as arguments come in twos, lines hold two texts with a tab between", "0.1.0", false},
    OptionRow{"keep", 0, kList, "all", "all|none|NAMES", kTextVerbs, "Output",
              "keys of the input row copied to json and jsonl output", "0.1.0", false},
    OptionRow{"on-bad-row", 0, kChoice, "report", "report|skip|fail", kTextVerbs, "Input",
              "a row that cannot be answered: keep its place with the error, leave it out, or stop", "0.1.0", false},
    OptionRow{"max-tokens", 0, kInteger, "512", "3..1048576", kTextVerbs, "Input",
              "longest input in tokens, the special ones included", "0.1.0", false},
    OptionRow{"truncate", 0, kChoice, "right", "right|left|error", "classify fill", "Input",
              "what to do with a longer input: cut its end, its beginning, or report the row as bad", "0.1.0", false},
    OptionRow{"max-text-bytes", 0, kSize, "1MiB", "1..1GiB", kTextVerbs, "Input", "longest text in bytes", "0.1.0",
              false},
    OptionRow{"special-text", 0, kChoice, "parse", "parse|literal", kTextVerbs, "Input",
              "[SEP] and the like written in a text: special tokens, or plain text (the mask of fill stays one)",
              "0.1.0", false},
    OptionRow{"top-k", 'k', kInteger, "0", "0..100000", "classify fill", "Answer",
              "answers per text or mask; 0: 1 label (all of a multi-label model), 5 tokens", "0.1.0", false},
    OptionRow{"activation", 0, kChoice, "auto", "auto|softmax|sigmoid|none", "classify", "Answer",
              "from logits to scores; auto goes by the model's problem_type", "0.1.0", false},
    OptionRow{"raw", 0, kFlag, "", "", "classify", "Answer", "scores are the logits: --activation none", "0.1.0",
              false},
    OptionRow{"targets", 0, kList, "", "WORDS", "fill", "Answer", "score only these words, separated by commas",
              "0.1.0", false},
    OptionRow{"no-special", 0, kFlag, "", "", "tokenize", "Answer", "do not add [CLS] and [SEP]", "0.1.0", false},
    OptionRow{"decode", 0, kFlag, "", "", "tokenize", "Answer", "inputs are ids separated by spaces; print their text",
              "0.1.0", false},
    OptionRow{"offsets", 0, kChoice, "chars", "chars|bytes|utf16", "tokenize", "Answer",
              "unit of offsets: Unicode code points, bytes, or UTF-16 units", "0.1.0", false},
    OptionRow{"ids", 0, kText, "", "FILE", "forward", "Input",
              "safetensors file with input_ids [B, L] and, where wanted, attention_mask, token_type_ids, position_ids",
              "0.1.0", false},
    OptionRow{"mask", 0, kText, "", "FILE", "forward", "Input", "take attention_mask from this file instead", "0.1.0",
              false},
    OptionRow{"layers", 0, kList, "all", "all|none|NUMBERS", "forward", "Answer",
              "hidden states to write: 0 is the embedding output", "0.1.0", false},
    OptionRow{"scores", 0, kFlag, "", "", "forward", "Answer",
              "also write each layer's c2c, c2p, p2c scores and probabilities (reference kernels)", "0.1.0", false},
    OptionRow{"stats", 0, kFlag, "", "", "inspect", "Answer", "least, greatest, mean, deviation, non-finite values",
              "0.1.0", false},
    OptionRow{"diff", 0, kText, "", "DIR", "inspect", "Answer", "compare with this model, tensor by tensor", "0.1.0",
              false},
    OptionRow{"strict", 0, kFlag, "", "", "check", "Answer", "warnings count as errors", "0.1.0", false},
    OptionRow{"output", 'o', kText, "", "FILE", "classify fill tokenize forward", "Output",
              "write to FILE; it is replaced only when all is done", "0.1.0", false},
    OptionRow{"format", 'f', kChoice, "auto", "auto|table|tsv|json|jsonl", "classify fill tokenize inspect check info",
              "Output", "form of the output; auto: table on a terminal, tsv elsewhere", "0.1.0", false},
    OptionRow{"no-header", 0, kFlag, "", "", "classify fill tokenize inspect check", "Output",
              "no header line in tsv output", "0.1.0", false},
    OptionRow{"progress", 0, kChoice, "auto", "auto|on|off", "classify fill tokenize", "General",
              "progress on standard error: auto shows a bar on a terminal, a JSON line each 30 s elsewhere", "0.1.0",
              false},
    OptionRow{"quiet", 'q', kFlag, "", "", "*", "General", "no notes and warnings on standard error", "0.1.0", false},
    OptionRow{"config", 0, kText, "", "FILE", "*", "General", "read options from this JSON file: {\"top-k\": 3}",
              "0.1.0", false},
    OptionRow{"print-config", 0, kFlag, "", "", "*", "General", "show each option's value and its origin, and stop",
              "0.1.0", false},
};

}  // namespace

std::span<const VerbRow> verb_table() {
  return kVerbs;
}
std::span<const OptionRow> option_table() {
  return kOptions;
}

}  // namespace deberta
