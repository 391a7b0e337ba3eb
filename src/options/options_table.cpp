// The rows: verbs and options. Nothing else in the program names an option's type, default or range; those of an option
// that is a parameter of tasks are in pipeline/parameters.h.
#include <algorithm>
#include <array>

#include "options/options.h"
#include "pipeline/parameters.h"

namespace deberta {
namespace {

using enum OptionType;

constexpr std::string_view kTextVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze tokenize";
constexpr std::string_view kReadingVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze tokenize convert";
constexpr std::string_view kEncodingVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval tokenize convert";
constexpr std::string_view kTokenizerVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval tokenize convert forward";
constexpr std::string_view kModelVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval forward serve";
// Verbs that open weights.
constexpr std::string_view kWeightVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval forward inspect check convert "
    "bench info "
    "serve";
// Verbs that print rows or tables in the formats of answers.
constexpr std::string_view kTableVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval tokenize inspect check convert "
    "bench";

// Those of the table of implementations.
constexpr std::string_view kKernelNames = "auto|check"
#define DEBERTA_IMPLEMENTATION(level, name, ...) "|" name
#include "kernels/implementations.inc"
#undef DEBERTA_IMPLEMENTATION
    ;

constexpr std::array kVerbs = {
    VerbRow{"classify", "label or score texts or pairs of texts", "[TEXT...]",
            "classify -m DIR \"a gorgeous , witty , seductive movie .\"",
            "model input input-field pair top-k truncate format output"},
    VerbRow{"nli", "decide whether a premise entails a hypothesis", "[PREMISE HYPOTHESIS...]",
            "nli -m DIR \"A man is playing a guitar\" \"A man is playing an instrument\"",
            "model input input-field label-map format output"},
    VerbRow{"zero-shot", "label texts with your own labels, using an entailment model", "[TEXT...]",
            "zero-shot -m DIR --labels sports,politics \"The match ended in a draw .\"",
            "model labels multi-label template input format output"},
    VerbRow{"ner", "find entities in texts, or label each piece", "[TEXT...]",
            "ner -m DIR \"Ada Lovelace was born in London .\"", "model input aggregate format output"},
    VerbRow{"qa", "find the answer to a question in a context", "[QUESTION CONTEXT...]",
            "qa -m DIR \"Who wrote it?\" \"Mary Shelley wrote Frankenstein .\"",
            "model input input-field top-k allow-no-answer format output"},
    VerbRow{"choose", "pick the choice that fits a context and a question", "[CONTEXT QUESTION CHOICE CHOICE...]",
            "choose -m DIR \"It rained all day .\" \"What was the street?\" wet dry", "model input format output"},
    VerbRow{"rerank", "order documents by how well they answer a query (cross-encoders, reward models)",
            "[QUERY DOCUMENT...]", "rerank -m DIR \"capital of France\" \"Paris is a city .\" \"Cats purr .\"",
            "model input query top-k return-text format output"},
    VerbRow{"embed", "turn texts, or their tokens, into vectors", "[TEXT...]",
            "embed -m DIR --normalize -o vectors.npy \"one text\" \"another\"",
            "model input pooling normalize similarity output", "npy safetensors"},
    VerbRow{"fill", "predict the masked tokens of a text", "[TEXT...]",
            "fill -m DIR \"The capital of France is [MASK].\"", "model input top-k format output"},
    VerbRow{"score", "compute the pseudo-perplexity of a text under a masked language model", "[TEXT...]",
            "score -m DIR --tokens --format json \"The cat sat on the mat .\"", "model input tokens format output"},
    VerbRow{"detect", "find the pieces of a text that were replaced (discriminators)", "[TEXT...]",
            "detect -m DIR \"The chef ate the meal .\"", "model input threshold format output"},
    VerbRow{"analyze", "show what each attention head does with a text: figures, or a page for a browser", "[TEXT...]",
            "analyze -m DIR -o page.html \"The cat sat on the mat .\"", "model pair page output", "html"},
    VerbRow{"tokenize", "show ids, pieces and offsets, or turn ids back into text", "[TEXT...]",
            "tokenize -m DIR \"Hello world\"", "model input decode format output", "safetensors"},
    VerbRow{"forward",
            "run the model on texts, or ids from a file: every layer, pooled output, logits, attention scores",
            "[TEXT...]", "forward -m DIR \"a fine film\" -o out.safetensors", "model ids layers output", "safetensors"},
    VerbRow{"eval", "score a labelled file, or predictions for it, with the official metrics of a task", "[FILE...]",
            "eval --task sst-2 -m DIR dev.tsv",
            "task model input-field label-field label-map predictions format output-dir"},
    VerbRow{"inspect", "list the tensors of a model, or compare two models", "", "inspect -m DIR --stats",
            "model stats diff format"},
    VerbRow{"check", "find mistakes in a model directory; write a corrected copy", "", "check -m DIR",
            "model output-dir format"},
    VerbRow{"convert", "write a model directory in another format: safetensors, shards, dtype, layout, names", "",
            "convert -m DIR -o DIR2 --verify", "model output-dir dtype verify calibration-data"},
    VerbRow{"bench", "measure latency and throughput on random ids, against the machine's peak", "",
            "bench -m DIR --threads 1,2 --lengths 32,128,512 --operations",
            "model threads lengths dtype baseline format"},
    VerbRow{"serve", "answer over HTTP: text-embeddings-inference, OpenAI, Cohere and hub clients work as they are", "",
            "serve -m DIR --port 8080", "model port host api-key-file dtype threads"},
    VerbRow{"info", "show the version, the processor, the kernels and, with -m, a model", "", "info", "model format"},
    VerbRow{"pretrain", "train a language model on text files (the training half: docs/training.md)", "FILE...",
            "pretrain --tokenizer-name TOKENIZER --max-train-tokens 10M -o NEW_MODEL corpus.txt.xz",
            "tokenizer-name config-name model objective max-train-tokens batch-size learning-rate output-dir"},
    VerbRow{"finetune", "train a model for a task with labelled files (the training half)", "",
            "finetune --task sst-2 -m DIR --train-file train.tsv --validation-file dev.tsv -o NEW_MODEL",
            "task model train-file validation-file validation-split input-field label-field num-train-epochs "
            "learning-rate recipe output-dir"},
    VerbRow{"ablate", "run a plan of forms, seeds and tasks, and make their table (the training half)", "PLAN.json",
            "ablate plans/attention.json -o OUT", "output-dir results tables-only"},
    VerbRow{"replay", "losses and gradients of given batches, and the weights after each step (the training half)", "",
            "replay -m DIR --batches in.safetensors -o out.safetensors", "model batches output", "safetensors"},
    VerbRow{"report", "make the reports of a run anew from its folder: run.html, tb/, README.md (the training half)",
            "DIR", "report OUT"},
    VerbRow{"completion", "print a completion script for bash, zsh or fish", "SHELL", "completion bash"},
    VerbRow{"help", "show help for a verb", "[VERB]", "help classify"},
};

constexpr OptionType option_type(ParameterType type) {
  switch (type) {
    case ParameterType::kFlag:
      return kFlag;
    case ParameterType::kInteger:
      return kInteger;
    case ParameterType::kNumber:
      return kNumber;
    case ParameterType::kWord:
      return kChoice;
    case ParameterType::kText:
      return kText;
    case ParameterType::kTexts:
      return kList;
  }
  return kText;
}

// A parameter of tasks, by the name that it has as an option; `more` is what help says behind the row's text.
consteval OptionRow of(const Parameter& row, std::string_view name, char short_name, std::string_view section,
                       std::string_view more = {}) {
  return {name, short_name, option_type(row.type), row.default_value, row.range, row.tasks, section, row.text,
          &row, more};
}

// The same where each text is given by itself, as it may have a comma.
consteval OptionRow several(OptionRow row) {
  row.type = kFiles;
  return row;
}

// A parameter where a labelled file is scored, which has a default and a meaning of its own for it.
consteval OptionRow in_eval(const Parameter& row, std::string_view name, std::string_view section,
                            std::string_view default_value, std::string_view help) {
  return {name, 0, option_type(row.type), default_value, row.range, "eval", section, help};
}

// No std::array: clang deduces no more than 256 elements.
constexpr OptionRow kOptions[] = {
    OptionRow{"model", 'm', kFiles, "", "[NAME=]DIR", "serve", "Model",
              "model to serve, and its name in requests (default: the last part of the path); may be repeated; without "
              "it, all built-in models"},
    OptionRow{"host", 0, kText, "127.0.0.1", "ADDRESS", "serve", "Server", "address to listen on, or localhost"},
    OptionRow{"port", 0, kInteger, "8080", "0..65535", "serve", "Server",
              "port to listen on; 0: any free one, which is printed"},
    OptionRow{"uds", 0, kText, "", "PATH", "serve", "Server",
              "listen on this Unix socket instead; one that a killed server left is taken over"},
    OptionRow{"uds-mode", 0, kText, "", "MODE", "serve", "Server",
              "permissions of the Unix socket, such as 0660; without it, what the umask leaves"},
    OptionRow{"api-key", 0, kText, "", "KEY", "serve", "Server",
              "requests must have this key (Authorization: Bearer KEY), except /health and /ping; better set as "
              "DEBERTA_API_KEY, which other users do not see"},
    OptionRow{
        "api-key-file", 0, kText, "", "FILE", "serve", "Server",
        "keys, a line each: name:scopes:sha256, with the scopes infer, priority, metrics, explain and admin separated "
        "by commas, and the SHA-256 of the key in hexadecimal digits"},
    OptionRow{
        "admin", 0, kFlag, "", "", "serve", "Server",
        "routes that load, unload and reload models (/admin/...); at an address that others reach they need a key"},
    OptionRow{
        "explorer", 0, kChoice, "auto", "auto|on|off", "serve", "Server",
        "the page /explorer and what it asks for; auto: at an address that only this machine reaches; elsewhere it "
        "needs a key"},
    OptionRow{"strict-fields", 0, kFlag, "", "", "serve", "Server",
              "refuse requests with fields that no route knows (422), instead of naming them in X-Ignored-Fields"},
    OptionRow{"openapi", 0, kFlag, "", "", "serve", "Server",
              "print the OpenAPI document of the routes, and exit; a running server has it at /openapi.json"},
    OptionRow{"metrics-names", 0, kChoice, "deberta", "deberta|tei", "serve", "Server",
              "names in /metrics; tei: those of text-embeddings-inference as well (te_request_count, ...)"},
    OptionRow{"metrics-port", 0, kInteger, "auto", "auto|0..65535", "serve", "Server",
              "port of the same address that alone has /metrics, without a key; 0: any free one, which is printed; "
              "auto: the port of all other routes has it"},
    OptionRow{"allowed-host", 0, kFiles, "", "NAME", "serve", "Server",
              "without a key: a Host header that requests may have, beside localhost and the server's address; *: any; "
              "may be repeated"},
    OptionRow{"cors-allow-origin", 0, kFiles, "", "ORIGIN", "serve", "Server",
              "pages of this origin may ask, such as https://example.org; *: all pages; may be repeated"},
    OptionRow{
        "trusted-proxy", 0, kFiles, "", "ADDRESS", "serve", "Server",
        "believe the X-Forwarded-For of a proxy at this address; whoever reaches a Unix socket is believed; may be "
        "repeated"},
    OptionRow{"http-threads", 0, kInteger, "2", "1..64", "serve", "Server",
              "threads that read and write; none computes"},
    OptionRow{"tokenization-workers", 0, kInteger, "0", "0..64", "serve", "Server",
              "threads that read texts and write answers; 0: half of the processors"},
    OptionRow{"max-concurrent-requests", 0, kInteger, "512", "1..100000", "serve", "Limits",
              "requests that wait or run; further ones are refused (429)"},
    OptionRow{"max-client-batch", 0, kInteger, "256", "1..100000", "serve", "Limits",
              "texts, documents or candidate labels of one request"},
    OptionRow{"max-batch-items", 0, kInteger, "1024", "1..100000", "serve", "Limits", "sequences that run together"},
    OptionRow{
        "max-input-length", 0, kInteger, "auto", "auto|8..8192", "serve", "Limits",
        "tokens of a text, at most as many as the model's folder says; auto: as many as it says, up to 8192, else "
        "512"},
    OptionRow{"max-body", 0, kSize, "2000000", "1k..1G", "serve", "Limits", "bytes of a request's body"},
    OptionRow{"max-answer", 0, kSize, "64MiB", "64KiB..1GiB", "serve", "Limits",
              "bytes of an answer, about; a request that would get a longer one is refused (413)"},
    OptionRow{"max-client-bytes", 0, kSize, "32MiB", "1MiB..1024GiB", "serve", "Limits",
              "memory of one client's requests: bodies, what is read from them, and answers that it has not read yet; "
              "further ones are refused (429)"},
    OptionRow{"memory-limit", 0, kSize, "1GiB", "1MiB..1024GiB", "serve", "Limits",
              "the same of all clients together, beside the models"},
    OptionRow{"max-connections", 0, kInteger, "1024", "1..100000", "serve", "Limits", "open connections"},
    OptionRow{"max-connections-per-address", 0, kInteger, "256", "1..100000", "serve", "Limits",
              "open connections of one client; behind a proxy that is trusted, its requests at once"},
    OptionRow{"deadline-ms", 0, kInteger, "30000", "1..3600000", "serve", "Limits",
              "milliseconds until a request without an answer is given up (504); X-Deadline-Ms lowers it"},
    OptionRow{
        "rate-limit", 0, kNumber, "0", "0..1000000000", "serve", "Limits",
        "tokens a second of one client, by its key or its address; ten seconds of it may come at once (429); 0: none"},
    OptionRow{"drain-s", 0, kNumber, "30", "0..3600", "serve", "Limits",
              "seconds that SIGTERM leaves to requests that have begun"},
    OptionRow{"drain-grace-s", 0, kNumber, "0", "0..3600", "serve", "Limits",
              "seconds after SIGTERM in which requests are still taken while /health says 503, so that balancers look "
              "elsewhere first"},
    OptionRow{"truncate", 0, kChoice, "auto", "auto|right|error", "serve", "Input",
              "texts that are too long are cut at their end, or refused; auto: refused at the routes of "
              "text-embeddings-inference and OpenAI, as there, and cut at all others; a request may say otherwise"},
    OptionRow{"log-format", 0, kChoice, "text", "text|json", "serve", "Output",
              "form of the log, a line for each request; never the texts"},
    OptionRow{"log-file", 0, kText, "", "FILE", "serve", "Output",
              "add the log to this file, which SIGUSR1 reopens, instead of standard error"},
    OptionRow{"model", 'm', kText, "", "DIR",
              "classify nli ner fill score embed detect analyze eval tokenize forward bench", "Model",
              "model directory (config.json, weights, tokenizer), builtin[:NAME], or ORG/NAME[@REVISION] in the local "
              "hub cache (default: the built-in model that fits, where there is one)"},
    OptionRow{"model", 'm', kText, "", "DIR", "zero-shot qa choose rerank inspect check convert info", "Model",
              "model directory (config.json, weights, tokenizer), builtin:NAME, or ORG/NAME[@REVISION] in the local "
              "hub cache"},
    OptionRow{"model", 'm', kText, "", "DIR", "pretrain", "Model",
              "model to begin with: its configuration, weights and, without --tokenizer-name, tokenizer"},
    OptionRow{"model", 'm', kText, "", "DIR", "finetune replay", "Model",
              "model to begin with: its configuration, weights and tokenizer; needed"},
    OptionRow{"tokenizer-name", 0, kText, "", "DIR", "pretrain", "Model",
              "folder with the tokenizer, as `train-tokenizer` writes it"},
    OptionRow{"new-embeddings", 0, kFlag, "", "", "pretrain", "Model",
              "begin with -m and the tokenizer of --tokenizer-name, whose pieces differ: the tables of words are new, "
              "with the rows of pieces that both have"},
    OptionRow{"add-tokens", 0, kList, "", "TOKENS", "pretrain finetune", "Model",
              "tokens to add to the tokenizer, with rows of their own; \\n is a line break, \\t a tab"},
    OptionRow{"config-name", 0, kText, "v3-base", "NAME", "pretrain", "Model",
              "shape of a new model: v3-xsmall, v3-small, v3-base, v3-large, or a config.json"},
    OptionRow{
        "config-overrides", 0, kList, "", "KEY=VALUE", "pretrain", "Model",
        "keys of config.json to set, such as num_hidden_layers=4,hidden_size=256; a hidden_size alone brings heads of "
        "64 and an intermediate_size four times as large"},
    OptionRow{"decoder-passes", 0, kInteger, "auto", "auto|0..3", "pretrain replay", "Model",
              "passes of the enhanced mask decoder; 0: the head reads the last layer; auto: as the model's config.json "
              "says, else 2"},
    OptionRow{"load", 0, kChoice, "mmap", "mmap|read", kWeightVerbs, "Model",
              "map the weights, or read them into memory: use read on network file systems and for files that may be "
              "truncated while in use"},
    OptionRow{"no-crc", 0, kFlag, "", "", kWeightVerbs, "Model",
              "do not check the CRC-32 of weights in a pytorch_model.bin"},
    OptionRow{"device", 0, kChoice, "cpu", "cpu|cuda", kModelVerbs, "Compute",
              "where the model runs; this build has the processor alone, and refuses cuda"},
    OptionRow{"kernels", 0, kChoice, "auto", kKernelNames,
              "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval forward bench info "
              "serve pretrain "
              "finetune replay",
              "Compute", "kernels to use; check runs the reference as well and reports the largest difference"},
    OptionRow{"dtype", 0, kChoice, "auto", "auto|fp32|bf16|int8",
              "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval forward bench serve",
              "Compute",
              "precision of matrix products and attention; auto: int8 for weights stored in int8, else fp32"},
    OptionRow{
        "dtype", 0, kChoice, "auto", "auto|fp32|bf16", "pretrain finetune", "Compute",
        "precision of matrix products and attention, forward and backward; weights, sums, norms and the optimiser "
        "are fp32; auto: bf16 where this processor multiplies it faster (`info` says so), else fp32; a run that goes "
        "on keeps its own"},
    OptionRow{"dtype", 0, kChoice, "fp32", "fp32|bf16", "replay", "Compute",
              "precision of matrix products and attention, forward and backward; weights, sums, norms and the "
              "optimiser are fp32"},
    OptionRow{"allow-uncalibrated", 0, kFlag, "", "", kModelVerbs, "Compute",
              "run int8 without calibrated activations; some models then give wrong answers"},
    OptionRow{"threads", 0, kInteger, "0", "0..1024", kModelVerbs, "Compute",
              "number of threads; 0: all processors available to this process"},
    OptionRow{"threads", 0, kInteger, "0", "0..1024", "pretrain finetune ablate replay", "Compute",
              "number of threads; 0: all processors available to this process; the result does not depend on it"},
    OptionRow{"prefetch", 0, kInteger, "4", "0..64", "pretrain", "Compute",
              "steps whose batches are made ahead; the result does not depend on it"},
    OptionRow{"cache-dir", 0, kText, "", "DIR", "pretrain", "Input",
              "where the tokens of corpora are kept (default: deberta in the user's cache folder)"},
    OptionRow{"hold-out-every", 0, kInteger, "50", "0..1M", "pretrain", "Input",
              "of each corpus, every Nth document is not trained on, but evaluated; 0: none"},
    OptionRow{
        "hold-out-every", 0, kInteger, "0", "0..1M", "eval", "Input",
        "mlm, causal: read the files as corpora of documents, as `pretrain` does, and score every Nth document; 0: "
        "every line"},
    OptionRow{"document-boundary", 0, kChoice, "none", "none|sep|block", "pretrain", "Input",
              "where documents meet in a sequence; none: nothing stands between; sep: a [SEP]; block: no attention "
              "across"},
    OptionRow{"source-weights", 0, kList, "", "WEIGHTS", "pretrain", "Input",
              "a weight for each corpus that is named (default: 1 each)"},
    OptionRow{"source-exponent", 0, kNumber, "1", "0..1", "pretrain", "Input",
              "a corpus is drawn in proportion to its weight times its size to this power; below 1 small ones come "
              "more often"},
    OptionRow{"objective", 0, kChoice, "mlm", "mlm|causal|rtd", "pretrain replay", "Training",
              "what is predicted; mlm: masked words; causal: the next piece, each token seeing those before it; rtd: "
              "which tokens a generator has replaced"},
    OptionRow{"rtd-mode", 0, kChoice, "decoupled", "decoupled|joint", "pretrain replay", "Replaced tokens",
              "decoupled: the generator steps first, then the discriminator, each with an optimiser of its own; joint: "
              "one optimiser on the sum of their losses"},
    OptionRow{"rtd-lambda", 0, kNumber, "10", "0..1000000", "pretrain replay", "Replaced tokens",
              "weight of the discriminator's loss; the original code has 10, its paper 50"},
    OptionRow{
        "embedding-sharing", 0, kChoice, "gdes", "gdes|es|nes", "pretrain replay", "Replaced tokens",
        "the discriminator's tables of words and positions; gdes: the generator's, which it does not train, plus a "
        "difference of its own; es: the generator's, which both train (only joint); nes: its own"},
    OptionRow{"discriminator-learning-rate", 0, kNumber, "0", "0..1", "pretrain replay", "Replaced tokens",
              "highest learning rate of the discriminator's own optimiser; 0: that of the generator"},
    OptionRow{"generator-model", 0, kText, "", "DIR", "pretrain replay", "Replaced tokens",
              "generator to begin with, in any of the forms that -m takes"},
    OptionRow{"generator-init", 0, kChoice, "auto", "auto|discriminator|random", "pretrain", "Replaced tokens",
              "a generator without a folder; discriminator: the tables of the model given with -m, every second of its "
              "layers and a new head; random: all new; auto: discriminator with -m, else random"},
    OptionRow{"generator-layers", 0, kInteger, "0", "0..1000", "pretrain", "Replaced tokens",
              "layers of a generator without a folder; 0: half of the discriminator's, and at least 2 for the mask "
              "decoder"},
    OptionRow{"generator-warmup", 0, kInteger, "0", "0..16777215", "pretrain", "Replaced tokens",
              "first steps of the run, which train the generator alone"},
    OptionRow{"mlm-probability", 0, kNumber, "0.15", "0..1", "pretrain", "Training",
              "fraction of the tokens of a sequence to predict"},
    OptionRow{"max-gram", 0, kInteger, "3", "1..16", "pretrain", "Training",
              "most words masked in a row; 1: pieces instead of words, as BERT"},
    OptionRow{"uniform-tail", 0, kFlag, "", "", "pretrain", "Training",
              "mask the end of a sequence as often as its beginning; the original leaves its last tenth alone"},
    OptionRow{"max-tokens", 0, kInteger, "128", "8..1048576", "pretrain", "Training",
              "length of a sequence in tokens, special tokens included"},
    OptionRow{"long-tokens", 0, kInteger, "0", "0..1048576", "pretrain", "Training",
              "length of a sequence in the last steps, with as many tokens in a step; 0: as before"},
    OptionRow{"long-share", 0, kNumber, "0.15", "0..1", "pretrain", "Training", "part of the steps with --long-tokens"},
    OptionRow{"short-share", 0, kNumber, "0", "0..1", "pretrain", "Training",
              "part of the sequences that are cut into shorter ones, of 3 pieces and more, so that a model meets short "
              "texts too; 0: none, as in the original"},
    OptionRow{"batch-size", 0, kInteger, "64", "1..1M", "pretrain", "Training",
              "sequences of a step, of --max-tokens each"},
    OptionRow{"gradient-accumulation-steps", 0, kInteger, "1", "1..1M", "pretrain finetune", "Training",
              "parts that a step is computed in, one after the other, to use less memory"},
    OptionRow{"auto-find-batch-size", 0, kFlag, "", "", "pretrain finetune", "Training",
              "before the run, find the smallest number of parts per step that fits in memory, starting from "
              "--gradient-accumulation-steps"},
    OptionRow{"gradient-checkpointing", 0, kFlag, "", "", "pretrain finetune", "Training",
              "keep only the input of each layer, and compute the layer again when its gradient is: less memory, a "
              "third more time, the same result"},
    OptionRow{"loss-scale", 0, kNumber, "0", "0..16777216", "pretrain finetune", "Training",
              "initial scale of the loss for gradients in 16-bit floats; it doubles after 250 steps and halves when "
              "gradients overflow; 0: off"},
    OptionRow{"ema-decay", 0, kNumber, "0", "0..1", "pretrain finetune", "Training",
              "decay of an exponential moving average of the weights, which is then evaluated and is the result; 0: "
              "off"},
    OptionRow{"max-steps", 0, kInteger, "0", "0..16777215", "pretrain", "Training",
              "length of the run in steps; give this, --max-train-tokens or --num-train-epochs"},
    OptionRow{"max-time", 0, kText, "0", "DURATION", "pretrain finetune", "Training",
              "stop at the end of the step in which this much time has passed (seconds, or 90m, 8h), and write a "
              "checkpoint and the model; the same command continues the run; 0: no limit"},
    OptionRow{"max-train-tokens", 0, kSize, "0", "0..1000G", "pretrain", "Training",
              "length of the run in tokens; give this, --max-steps or --num-train-epochs"},
    OptionRow{"num-train-epochs", 0, kNumber, "0", "0..100000", "pretrain", "Training",
              "length of the run in passes over the corpora; give this, --max-steps or --max-train-tokens"},
    OptionRow{"optimizer", 0, kChoice, "xadam", "xadam|adamw", "pretrain finetune replay", "Training",
              "xadam: that of the original code, Adam without bias correction; adamw: with it"},
    OptionRow{"learning-rate", 0, kNumber, "5e-4", "0..1", "pretrain replay", "Training", "highest learning rate"},
    OptionRow{
        "lr-scheduler-type", 0, kChoice, "linear",
        "linear|cosine|cosine_with_restarts|polynomial|constant|constant_with_warmup|inverse_sqrt|warmup_stable_"
        "decay|warmup_linear|warmup_linear_shift|warmup_constant|warmup_cosine|warmup_linear_cosine|warmup_cyclic_"
        "linear_cosine",
        "pretrain finetune", "Training",
        "how the learning rate changes: by the names of transformers, or those of the original (warmup_...)"},
    OptionRow{
        "lr-decay-steps", 0, kNumber, "0.1", "0..16777215", "pretrain finetune", "Training",
        "of warmup_stable_decay: for how many last steps the learning rate falls; below 1: a fraction of the run"},
    OptionRow{"lr-decay-type", 0, kChoice, "cosine", "linear|cosine|1-sqrt", "pretrain finetune", "Training",
              "of warmup_stable_decay: how it falls"},
    OptionRow{"warmup-steps", 0, kNumber, "0.1", "0..16777215", "pretrain finetune", "Training",
              "steps in which the learning rate grows; below 1: a part of the run"},
    OptionRow{"weight-decay", 0, kNumber, "0.01", "0..1", "pretrain finetune replay", "Training",
              "of matrices and tables, not of biases and norms"},
    OptionRow{"adam-beta1", 0, kNumber, "0.9", "0..1", "pretrain finetune replay", "Training",
              "decay of the mean gradient"},
    OptionRow{"adam-beta2", 0, kNumber, "0.999", "0..1", "pretrain finetune replay", "Training",
              "decay of the mean square"},
    OptionRow{"adam-epsilon", 0, kNumber, "1e-6", "0..1", "pretrain finetune replay", "Training",
              "added to the root of the square"},
    OptionRow{"max-grad-norm", 0, kNumber, "1", "0..1000000", "pretrain finetune replay", "Training",
              "norm to which gradients are cut; 0: they are not"},
    OptionRow{"seed", 0, kInteger, "1234", "0..1000G", "pretrain finetune", "Training",
              "random seed of weights, order, masks and dropout"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "pretrain finetune", "Output",
              "folder of the model, its checkpoints and its log; a run that was stopped goes on there"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "ablate", "Output",
              "folder of the runs, their results and the table; what is finished there is not run again"},
    OptionRow{
        "results", 0, kText, "", "DIR", "ablate", "Output",
        "keep the result and the log of each run here too; one that is here with the same options is not run again"},
    OptionRow{"tables-only", 0, kFlag, "", "", "ablate", "Output",
              "run nothing: make the table of the runs that are finished"},
    OptionRow{"logging-steps", 0, kInteger, "50", "1..1M", "pretrain finetune", "Output",
              "steps between lines of metrics.jsonl"},
    OptionRow{"save-steps", 0, kInteger, "500", "0..16777215", "pretrain finetune", "Output",
              "steps between checkpoints; 0: one at the end"},
    OptionRow{"save-total-limit", 0, kInteger, "2", "1..1M", "pretrain finetune", "Output",
              "checkpoints that are kept"},
    OptionRow{"eval-steps", 0, kInteger, "0", "0..16777215", "pretrain", "Output",
              "steps between evaluations on documents held out; 0: one at the end"},
    OptionRow{"eval-lines", 0, kInteger, "500", "0..1000G", "pretrain", "Output",
              "lines of each corpus in evaluations during the run; 0, and at the end: all"},
    OptionRow{
        "resume", 0, kChoice, "auto", "auto|never", "pretrain finetune", "Output",
        "what to do with a folder that holds checkpoints of a run; auto: go on from the newest; never: refuse it"},
    OptionRow{"resume-override", 0, kList, "", "NAMES", "pretrain finetune", "Output",
              "options that may differ from those of the run so far"},
    OptionRow{"dry-run", 0, kFlag, "", "", "pretrain finetune", "Output",
              "show sizes and some sequences as the first step reads them, and train nothing"},
    OptionRow{"find-lr", 0, kFlag, "", "", "pretrain finetune", "Output",
              "try learning rates from 1e-8 to 1, a step each, show the losses and where they fall most, and keep "
              "nothing"},
    OptionRow{"card-base-model", 0, kText, "", "ID", "pretrain finetune", "Output",
              "for the model card: the model on a hub that this one comes from; by default --model where that is an ID "
              "of a hub"},
    OptionRow{"card-license", 0, kText, "", "ID", "pretrain finetune", "Output",
              "for the model card: the licence, by the hub's name (mit, apache-2.0, cc-by-4.0, other)"},
    OptionRow{"card-language", 0, kList, "", "CODES", "pretrain finetune", "Output",
              "for the model card: the languages (en, de, multilingual)"},
    OptionRow{"card-datasets", 0, kList, "", "IDS", "pretrain finetune", "Output",
              "for the model card: the data sets on a hub that the model is trained on"},
    OptionRow{"task", 't', kText, "", "NAME", "finetune", "Input",
              "the task, which sets the format of the files, the head and the metrics: any with labels (deberta eval "
              "--list)"},
    OptionRow{"train-file", 0, kFiles, "", "FILE", "finetune", "Input", "labelled file or folder to train on"},
    OptionRow{
        "validation-file", 0, kFiles, "", "FILE", "finetune", "Input",
        "labelled file or folder to evaluate on after each epoch, as `deberta eval` does; the best model is kept"},
    OptionRow{
        "validation-split", 0, kNumber, "0", "0..1", "finetune", "Input",
        "instead of --validation-file: the share of the training examples, at most 0.5, to hold out and evaluate on, "
        "drawn from --seed; 0: none"},
    OptionRow{"fold", 0, kText, "", "K/N", "finetune", "Input",
              "instead of --validation-file: hold out fold K of N folds of the training examples (2 to 100, each with "
              "the same share of every class, drawn from --seed) and run in a folder of its own in -o; after the last "
              "fold the mean metrics and all held-out answers are written to -o"},
    OptionRow{
        "group-field", 0, kText, "", "NAME", "finetune", "Input",
        "with --fold or --validation-split: the column or key whose values stay together (a patient, a document)"},
    OptionRow{"labels-file", 0, kText, "", "FILE", "finetune", "Input",
              "alphanli: the labels of --train-file, 1 or 2, one per line"},
    OptionRow{"validation-labels-file", 0, kText, "", "FILE", "finetune", "Input",
              "alphanli: those of --validation-file"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|tsv|csv|jsonl|text", "finetune", "Input",
              "format of the files; auto: by their extension (before .gz, .xz, .zst, .bz2), else by the task"},
    OptionRow{"input-field", 0, kList, "", "NAMES", "finetune", "Input",
              "columns or keys of the text and, after a comma, of its pair, if they differ from the task's"},
    OptionRow{"label-field", 0, kList, "", "NAMES", "finetune", "Input",
              "column or key of the label, if it differs from the task's; of several between commas each holds a score "
              "(regression) or the share of the class of its name (classification)"},
    OptionRow{"weight-field", 0, kText, "", "NAME", "finetune", "Input",
              "column or key of what each training row weighs: 0 or more; a step's loss is the weighted mean of its "
              "rows (tasks whose rows have a class, classes or scores); evaluations are not weighted"},
    OptionRow{"merge-sentences", 0, kFlag, "", "", "finetune", "Input",
              "ner: join the sentences of a document, up to --max-tokens, as in the training of the published models"},
    OptionRow{
        "on-bad-row", 0, kChoice, "fail", "report|skip|fail", "finetune", "Input",
        "what to do with a row of the files that cannot be read: report it and leave it out, leave it out silently, "
        "or stop; labels that a task does not have stop the run in any case"},
    OptionRow{"max-train-samples", 0, kInteger, "0", "0..1000G", "finetune", "Input",
              "train on the first so many examples of the files; 0: all"},
    OptionRow{
        "max-tokens", 0, kInteger, "auto", "auto|8..1048576", "finetune", "Input",
        "maximum length of a sequence in training, special tokens included, for SQuAD that of a window; auto: the "
        "published one of the task, else 256"},
    OptionRow{
        "truncate", 0, kChoice, "auto", "auto|right|window", "finetune", "Input",
        "what to do with a text longer than --max-tokens: cut its end (right), or train on overlapping windows of it "
        "(window): each window gets the label of the text, and each word of a ner document is trained on in one "
        "window; auto: window for ner, right for other tasks; contexts of SQuAD and ReCoRD always have windows"},
    OptionRow{"stride", 0, kInteger, "128", "0..1048575", "finetune", "Input",
              "tokens of a text that consecutive windows share (SQuAD: at most half a window)"},
    OptionRow{"recipe", 0, kChoice, "none",
              "none|base|large|xlarge|v2-xlarge|v2-xxlarge|v3-xsmall|v3-small|v3-base|"
              "v3-large",
              "finetune", "Training",
              "the published hyper-parameters of the task for a model of this size: epochs, warm-up, learning rate, "
              "batch, dropout; given options override them"},
    OptionRow{"batch-size", 0, kInteger, "32", "1..1M", "finetune", "Training",
              "samples of a step: texts, pairs, questions with their choices, windows"},
    OptionRow{"num-train-epochs", 0, kNumber, "3", "0..100000", "finetune", "Training",
              "length of the run in passes over the files"},
    OptionRow{"max-steps", 0, kInteger, "0", "0..16777215", "finetune", "Training",
              "length of the run in steps, instead of epochs"},
    OptionRow{
        "learning-rate", 0, kNumber, "auto", "auto|0..1", "finetune", "Training",
        "highest learning rate; auto: by the size of the model, from 2e-4 for the smallest to 1e-5 for large ones "
        "(docs/training.md)"},
    OptionRow{"head-learning-rate", 0, kNumber, "auto", "auto|0..1", "finetune", "Training",
              "peak learning rate of the head (every tensor outside the encoder and the embeddings); auto: "
              "--learning-rate"},
    OptionRow{"layer-decay", 0, kNumber, "1", "0..1", "finetune", "Training",
              "layer-wise decay of the learning rate: the last layer's rate is multiplied by this factor, the layer "
              "before it by its square, and so on down to the embeddings; 1: the same rate for all layers"},
    OptionRow{"cls-dropout", 0, kNumber, "auto", "auto|0..1", "finetune", "Training",
              "dropout before the classifier; auto: as the model's config.json says"},
    OptionRow{"pooling", 0, kChoice, "auto", "auto|first|mean|max|attention", "finetune", "Training",
              "what the head of a classifier, a scorer or choices reads: the state of the first token, the mean or the "
              "largest values of all tokens, or their mean with learned weights (docs/models.md); auto: as the model "
              "does, first where it says nothing. Another than the model's begins with a new head"},
    OptionRow{"label-smoothing-factor", 0, kNumber, "0", "0..1", "finetune", "Training",
              "share of each label that is spread over all classes"},
    OptionRow{"class-weights", 0, kList, "", "WEIGHTS", "finetune", "Training",
              "a weight for each class, in the order of the model's labels, or `balanced`: by how rare it is"},
    OptionRow{"ranking-loss", 0, kChoice, "pairwise", "pointwise|pairwise|listwise|margin-mse", "finetune", "Training",
              "ranking: what is learned of a query's documents: the label of each by itself (pointwise), which of two "
              "is more relevant (pairwise, RankNet), which of all is (listwise, softmax cross-entropy), or how far a "
              "teacher's scores of two are apart (margin-mse)"},
    OptionRow{"max-documents", 0, kInteger, "8", "0..1000", "finetune", "Training",
              "ranking: documents of a query in a step, the relevant ones and others that are drawn for each epoch; 0: "
              "all"},
    OptionRow{"frozen-layers", 0, kInteger, "auto", "auto|0..1000", "finetune", "Training",
              "leave the embeddings and so many of the first layers as they are; auto: train everything"},
    OptionRow{"teacher", 0, kText, "", "DIR", "finetune replay", "Training",
              "distillation: learn from the answers of this model too; it has the same kind of head, the same classes "
              "and the same vocabulary"},
    OptionRow{"teacher-weight", 0, kNumber, "0.5", "0..1", "finetune replay", "Training",
              "share of the loss that compares with the teacher; 1: the labels are not used"},
    OptionRow{"teacher-temperature", 0, kNumber, "2", "1..1000", "finetune replay", "Training",
              "divide the logits of both models by this before they are compared; not used for regression"},
    OptionRow{"lora-rank", 0, kInteger, "0", "0..1024", "finetune", "Training",
              "train low-rank updates of this rank (LoRA) of some matrices, and the head; all other weights stay as "
              "they are; 0: train all weights"},
    OptionRow{"lora-alpha", 0, kNumber, "8", "0..100000", "finetune", "Training",
              "with --lora-rank: the additions are scaled by this over the rank"},
    OptionRow{"lora-targets", 0, kList, "query_proj,value_proj", "NAMES", "finetune", "Training",
              "with --lora-rank: which matrices: query_proj, key_proj, value_proj, pos_query_proj, pos_key_proj, "
              "attention.output.dense, intermediate.dense, output.dense (both of that name, as in peft)"},
    OptionRow{"reinit-layers", 0, kInteger, "0", "0..1000", "finetune", "Training",
              "begin so many of the last layers with new random weights"},
    OptionRow{
        "adversarial", 0, kChoice, "none", "none|sift|vat", "finetune replay", "Training",
        "train on small changes of the embeddings too, so that they do not change the answer; sift: of embeddings "
        "that are normalised first (DeBERTa, section 5); vat: of the embeddings as they are"},
    OptionRow{"vat-lambda", 0, kNumber, "5", "0..1000", "finetune replay", "Training",
              "sift, vat: weight of that loss beside the task's"},
    OptionRow{"vat-learning-rate", 0, kNumber, "1e-4", "0..1000", "finetune replay", "Training",
              "sift, vat: step of the change along its gradient"},
    OptionRow{"vat-init-perturbation", 0, kNumber, "1e-2", "0..1000", "finetune replay", "Training",
              "sift, vat: deviation of the random change that it begins with"},
    OptionRow{"vat-loss-fn", 0, kChoice, "symmetric-kl", "symmetric-kl|kl|mse", "finetune replay", "Training",
              "sift, vat: the distance between two answers, in the search for the change"},
    OptionRow{
        "sift-compat", 0, kChoice, "corrected", "corrected|original", "finetune replay", "Training",
        "sift, vat: the loss that fits the head, or that of the published code, whose softmax of scores runs over "
        "the batch"},
    OptionRow{"eval-steps", 0, kInteger, "0", "0..16777215", "finetune", "Output",
              "steps between evaluations; 0: an epoch"},
    OptionRow{
        "best-metric", 0, kText, "", "NAME", "finetune", "Output",
        "the metric that chooses the best model and ends the run early: one of the task, or loss (log_loss of classes, "
        "mse of scores, eval_loss of all others); ties go by its other metrics (default: the main metric of the task; "
        "deberta eval --list)"},
    OptionRow{"early-stopping-patience", 0, kInteger, "0", "0..1M", "finetune", "Output",
              "end after so many evaluations without a better one; 0: never"},
    OptionRow{"task-loss", 0, kChoice, "none", "none|class|score|labels|tokens|span|choice|mention", "replay",
              "Training", "losses of a head instead of --objective; what N.labels are then: docs/training.md"},
    OptionRow{"batches", 0, kText, "", "FILE", "replay", "Input",
              "safetensors file: ids and labels of each step (docs/training.md)"},
    OptionRow{"output", 'o', kText, "", "FILE", "replay", "Output", "write losses, gradients and weights here"},
    OptionRow{"compat", 0, kChoice, "original", "original|hf", kModelVerbs, "Compute",
              "which implementation to follow where the original code and transformers differ (long distances, mask "
              "decoder, padding rows)"},
    OptionRow{"batch-tokens", 0, kSize, "16k", "1..16M",
              "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval bench", "Compute",
              "maximum number of tokens in a batch"},
    OptionRow{"batch-tokens", 0, kSize, "auto", "auto|1..16M", "serve", "Compute",
              "maximum number of tokens in a batch, whose memory stays the model's; auto: 1k for each thread, at least "
              "1k and at most 16k"},
    OptionRow{"input", 'i', kFiles, "", "FILE", kTextVerbs, "Input",
              "read rows from FILE, compressed or not; - is standard input, the default when no text is given; may be "
              "repeated: the files are read in order"},
    OptionRow{"input", 'i', kFiles, "", "FILE", "eval", "Input",
              "a labelled file or a folder of labelled files, as the arguments"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|text|tsv|csv|jsonl|json|conll", "ner", "Input",
              "input format; auto: by the file's extension (before .gz, .xz, .zst, .bz2), else by its first line: "
              "JSON, or one text per line; conll: one word per line, its label last, a blank line after each sentence"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|text|tsv|csv|jsonl|json",
              "classify nli zero-shot qa choose rerank fill score embed detect analyze tokenize convert", "Input",
              "input format; auto: by the file's extension (before .gz, .xz, .zst, .bz2), else by its first line: "
              "JSON, or one text per line"},
    OptionRow{
        "input-field", 0, kList, "", "NAMES", kReadingVerbs, "Input",
        "columns or keys with the texts of a row, in order (default: text,text_pair; nli also premise,hypothesis; qa "
        "question,context; choose context,question,choices; rerank query,documents); numbers are columns, from 1, of "
        "a file without a header line"},
    OptionRow{"pair", 0, kFlag, "", "", "classify analyze tokenize", "Input",
              "inputs are pairs: two arguments each, or two texts per line, separated by a tab"},
    OptionRow{"pair", 0, kFlag, "", "", "forward", "Input", "texts are pairs: two arguments each"},
    OptionRow{"separator", 0, kText, "", "CHARACTER", kTextVerbs, "Input",
              "what separates the cells of tsv and csv files: a character, or tab; without it a tab in tsv, and in csv "
              "what the first line has: sep=;, commas, semicolons or tabs"},
    OptionRow{
        "keep", 0, kList, "all", "all|none|NAMES", kTextVerbs, "Output",
        "keys or columns of the input row to copy to the output; all: everything except the texts in json and jsonl, "
        "and where it is given also in csv and tsv, with the texts, as the first columns; NAMES: these, as the "
        "first columns, in every format"},
    OptionRow{"on-bad-row", 0, kChoice, "report", "report|skip|fail", kTextVerbs, "Input",
              "what to do with a row that cannot be answered: report the error in its place, skip it, or stop"},
    of(parameter("classify", "max_tokens"), "max-tokens", 0, "Input"),
    of(parameter("nli", "truncate"), "truncate", 0, "Input"),
    of(parameter("classify", "truncate"), "truncate", 0, "Input"),
    of(parameter("ner", "truncate"), "truncate", 0, "Input"),
    of(parameter("ner", "stride"), "stride", 0, "Input"),
    of(parameter("qa", "max_tokens"), "max-tokens", 0, "Input"),
    of(parameter("qa", "stride"), "stride", 0, "Input"),
    of(parameter("qa", "max_question_tokens"), "max-question-len", 0, "Input"),
    OptionRow{"query", 0, kText, "", "TEXT", "rerank", "Input", "the query; every row is then a document"},
    of(parameter("zero-shot", "labels"), "labels", 0, "Input"),
    OptionRow{"labels-file", 0, kText, "", "FILE", "zero-shot", "Input", "candidate labels, one per line"},
    of(parameter("zero-shot", "hypothesis_template"), "template", 0, "Input"),
    of(parameter("choose", "form"), "form", 0, "Input"),
    OptionRow{"max-text-bytes", 0, kSize, "1MiB", "1..1GiB", kEncodingVerbs, "Input", "maximum text length in bytes"},
    OptionRow{"special-text", 0, kChoice, "parse", "parse|literal", kEncodingVerbs, "Input",
              "how to read [SEP] and other special tokens in a text: as tokens (parse) or as plain text (literal; fill "
              "still finds its masks)"},
    OptionRow{
        "tokenizer", 0, kChoice, "slow", "slow|fast", kTokenizerVerbs, "Input",
        "which transformers tokenizer to match: slow, used to train the models, or fast, used by the transformers "
        "pipelines ([UNK] where a SentencePiece model has byte pieces)"},
    OptionRow{"spm-ties", 0, kChoice, "float", "float|double", kEncodingVerbs, "Input",
              "how to break ties in a SentencePiece model: as sentencepiece 0.2 (float) or 0.1.97 (double)"},
    of(parameter("classify", "top_k"), "top-k", 'k', "Answer"),
    of(parameter("fill", "top_k"), "top-k", 'k', "Answer", "; 0: five"),
    of(parameter("qa", "top_k"), "top-k", 'k', "Answer"),
    of(parameter("qa", "max_answer_tokens"), "max-answer-len", 0, "Answer"),
    in_eval(parameter("qa", "max_answer_tokens"), "max-answer-len", "Answer", "30",
            "squad: maximum answer length in tokens; 30 as in the papers"),
    in_eval(parameter("qa", "max_question_tokens"), "max-question-len", "Input", "64",
            "squad: maximum question length in tokens; the rest is cut"),
    in_eval(parameter("qa", "stride"), "stride", "Input", "128",
            "tokens of a text that consecutive windows share (SQuAD: at most half a window)"),
    of(parameter("qa", "align"), "align", 0, "Answer"),
    OptionRow{"align", 0, kChoice, "tokens", "tokens|words", "eval", "Answer",
              "squad: where answers may begin and end; tokens: score the span itself, as the official script does"},
    OptionRow{"word-label", 0, kChoice, "first", "first|most_confident", "eval", "Answer",
              "ner: a word takes the label of its first piece, as models are trained, or of its most confident piece"},
    of(parameter("qa", "allow_no_answer"), "allow-no-answer", 0, "Answer"),
    of(parameter("qa", "no_answer_threshold"), "no-answer-threshold", 0, "Answer"),
    of(parameter("zero-shot", "multi_label"), "multi-label", 0, "Answer"),
    of(parameter("rerank", "top_n"), "top-k", 'k', "Answer", "; 0: all"),
    of(parameter("rerank", "return_text"), "return-text", 0, "Answer", " in json and jsonl"),
    of(parameter("score", "tokens"), "tokens", 0, "Answer", " in json and jsonl"),
    of(parameter("classify", "window_scores"), "window-scores", 0, "Answer",
       " in code points (json and jsonl: and those of the mean); with --truncate window"),
    OptionRow{
        "window-scores", 0, kChoice, "mean", "mean|max", "eval", "Answer",
        "the answer to a text that is read in windows (--truncate window); mean: that of the mean of their logits; "
        "max: that of the window in which a class other than the benign ones scores highest"},
    several(of(parameter("classify", "benign_labels"), "benign-label", 0, "Answer", "; may be repeated")),
    OptionRow{"benign-label", 0, kFiles, "", "LABEL", "eval", "Answer",
              "a class that is no finding, for --window-scores max and --false-positive-rate; may be repeated; by "
              "default those that are named benign, safe, clean, ham or legit"},
    OptionRow{
        "false-positive-rate", 0, kList, "", "RATES", "eval", "Answer",
        "of a guard: report the shares of benign rows that it reports and of findings that it misses, and for each of "
        "these rates the threshold from which on at most that share of the benign rows is reported, with both errors "
        "there"},
    OptionRow{
        "metrics", 0, kList, "", "NAMES", "eval", "Answer",
        "report these in place of the task's own metrics, where rows have classes or scores: accuracy f1 precision "
        "recall f_beta roc_auc average_precision f1_macro f_beta_macro matthews_correlation quadratic_weighted_kappa "
        "log_loss f1_micro "
        "f_beta_micro pearson spearmanr mse, as far as the task has them"},
    OptionRow{"beta", 0, kNumber, "auto", "auto|0..1000", "eval", "Answer",
              "beta of f_beta and of --best-threshold: recall counts beta times as much as precision; auto: 1 for "
              "--best-threshold"},
    OptionRow{"positive-label", 0, kText, "", "LABEL", "eval", "Answer",
              "the class that f1, f_beta, precision, recall, roc_auc, average_precision and thresholds are about, by "
              "name; by default the second of "
              "two that the task itself has, and each in turn for thresholds of multi-label"},
    OptionRow{"label-order", 0, kList, "", "NAMES", "eval", "Answer",
              "quadratic_weighted_kappa: the classes in their order, the lowest first, if they are no numbers"},
    OptionRow{
        "best-threshold", 0, kFlag, "", "", "eval", "Answer",
        "the threshold on the score of the positive class that has the best F1 (with --beta the best F-beta), with "
        "precision and recall there"},
    OptionRow{"recall-at-precision", 0, kList, "", "NUMBERS", "eval", "Answer",
              "for each of these precisions the highest recall of the positive class, with the threshold that has it"},
    OptionRow{"precision-at-recall", 0, kList, "", "NUMBERS", "eval", "Answer",
              "for each of these recalls the highest precision of the positive class, with the threshold that has it"},
    OptionRow{"by", 0, kText, "", "COLUMN", "eval", "Answer",
              "the metrics also for each value of this column or key of the rows, at most 100 of them"},
    of(parameter("classify", "function"), "activation", 0, "Answer"),
    of(parameter("nli", "function"), "activation", 0, "Answer"),
    of(parameter("rerank", "function"), "activation", 0, "Answer"),
    of(parameter("nli", "label_map"), "label-map", 0, "Answer"),
    of(parameter("ner", "aggregation"), "aggregate", 0, "Answer"),
    OptionRow{
        "aggregate", 0, kChoice, "auto", "auto|simple|first|average|max", "eval", "Answer",
        "ner: score the entities that `ner --aggregate` finds in the text; one that begins or ends inside a word is "
        "wrong; auto: score the labels of words (--word-label)"},
    of(parameter("ner", "ignore_labels"), "ignore-labels", 0, "Answer"),
    of(parameter("embed", "pooling"), "pooling", 0, "Answer"),
    of(parameter("embed", "normalize"), "normalize", 0, "Answer",
       " (--pooling auto does so if the model's modules.json says so)"),
    OptionRow{"similarity", 0, kFlag, "", "", "embed", "Answer",
              "treat rows as pairs of texts and print the cosine of their vectors"},
    OptionRow{"output-dtype", 0, kChoice, "fp32", "fp32|fp16|bf16", "embed", "Output",
              "number format of the .npy (fp32, fp16) or .safetensors file (-o)"},
    of(parameter("embed", "layer"), "layer", 0, "Answer"),
    of(parameter("fill", "targets"), "targets", 0, "Answer", ", separated by commas"),
    OptionRow{
        "emd", 0, kChoice, "auto", "auto|on|off", "fill score eval", "Answer",
        "whether to use the enhanced mask decoder; auto: if the checkpoint has its position table; off: the plain "
        "head"},
    of(parameter("detect", "threshold"), "threshold", 0, "Answer"),
    OptionRow{"color", 0, kChoice, "auto", "auto|always|never", "detect", "Answer",
              "in a table, show the text with replaced pieces in colour; auto: on a terminal, unless NO_COLOR is set"},
    OptionRow{"page", 0, kText, "", "FILE", "analyze", "Output",
              "write a page for a browser here: c2c, c2p, p2c, sum and weights of every head, for one text of at most "
              "256 tokens; it needs no server; -o FILE.html does the same; -o of another name writes the figures too"},
    OptionRow{"no-special", 0, kFlag, "", "", "tokenize", "Answer", "do not add [CLS] and [SEP]"},
    OptionRow{"decode", 0, kFlag, "", "", "tokenize", "Answer",
              "treat inputs as ids separated by spaces and print their text"},
    of(parameter("ner", "offsets"), "offsets", 0, "Answer"),
    OptionRow{
        "ids", 0, kText, "", "FILE", "forward", "Input",
        "safetensors file with input_ids [B, L] and optionally attention_mask [B, L] or [B, L, L], token_type_ids, "
        "position_ids, relative_buckets [L, L]"},
    OptionRow{"mask", 0, kText, "", "FILE", "forward", "Input", "read attention_mask from this file instead"},
    OptionRow{"layers", 0, kList, "all", "all|none|NUMBERS", "forward", "Answer",
              "layers whose hidden states are written; 0 is the embedding output"},
    OptionRow{"scores", 0, kFlag, "", "", "forward", "Answer",
              "also write the c2c, c2p and p2c scores and the probabilities of each layer (reference kernels)"},
    OptionRow{"stats", 0, kFlag, "", "", "inspect", "Answer",
              "also show minimum, maximum, mean, standard deviation and the number of non-finite values"},
    OptionRow{"diff", 0, kText, "", "DIR", "inspect", "Answer", "compare with this model, tensor by tensor"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "check", "Output",
              "write a copy to this new folder and correct every mistake that needs no decision"},
    OptionRow{"output-dir", 'o', kText, "", "DIR", "convert", "Output",
              "the new folder; it appears only once it is complete"},
    OptionRow{"dtype", 0, kChoice, "keep", "keep|fp32|bf16|fp16|int8", "convert", "Answer",
              "dtype of the weights, rounded to nearest, ties to even; a value too large for fp16 is an error; int8: "
              "weights as stored, plus the calibration that --dtype int8 of other verbs needs"},
    OptionRow{"calibration-data", 0, kFiles, "", "FILE", "convert", "Input",
              "with --dtype int8: a few hundred texts of the kind that the model will read, in any format that --input "
              "of other verbs accepts"},
    OptionRow{"smoothing", 0, kChoice, "auto", "auto|0.4|0.5|0.6|0.7|0.8", "convert", "Answer",
              "with --dtype int8: how much of the spread of the activations moves into the weights (SmoothQuant's "
              "alpha); auto: 0.7 for multilingual models, else 0.5"},
    OptionRow{"adapter", 0, kText, "", "DIR", "convert", "Answer",
              "merge this peft LoRA adapter (adapter_config.json) into the model given by -m"},
    OptionRow{
        "average", 0, kFiles, "", "DIR", "convert", "Answer",
        "the mean of the weights (fp32) of -m and this model, which has the same form, such as another checkpoint "
        "of a run; may be repeated"},
    OptionRow{"layout", 0, kChoice, "keep", "keep|v1|v2", "convert", "Answer",
              "v1: fused projections, model_type deberta; v2: separate projections, model_type deberta-v2"},
    OptionRow{"head-names", 0, kChoice, "original", "original|hf", "convert", "Answer",
              "names of the language-model head: lm_predictions.lm_head.*, or transformers' cls.predictions.*"},
    OptionRow{"drop-delta", 0, kFlag, "", "", "convert", "Answer",
              "leave out a discriminator's word_embeddings._weight, the difference between its word embeddings and the "
              "generator's: only `pretrain --objective rtd -m` reads it, and can compute it from both models"},
    OptionRow{"shard-size", 0, kSize, "5G", "1..1000G", "convert", "Output",
              "maximum size of a weight file; a larger model is written as shards with an index"},
    OptionRow{"verify", 0, kFlag, "", "", "convert", "Output",
              "before the new folder appears, read it back, compare every tensor, and run both models; int8: also run "
              "the texts in fp32 and int8, and refuse a cosine below 0.999"},
    OptionRow{"strict", 0, kFlag, "", "", "check", "Answer", "treat warnings as errors"},
    OptionRow{"threads", 0, kList, "0", "0|NUMBERS", "bench", "Compute",
              "numbers of threads, measured one after the other; 0: all processors available to this process"},
    OptionRow{"lengths", 0, kList, "32,128,512", "NUMBERS", "bench", "Input",
              "sequence lengths in tokens; the latency of each is measured"},
    OptionRow{"lengths-file", 0, kText, "", "FILE", "bench", "Input",
              "lengths, one per line; measures the throughput over all of them, sorted and packed"},
    OptionRow{"batch", 0, kList, "1", "NUMBERS", "bench", "Input",
              "numbers of sequences per batch, each measured at each length"},
    OptionRow{"min-time", 0, kNumber, "2", "0..3600", "bench", "Input", "seconds per measurement (at least 5 runs)"},
    OptionRow{"training", 0, kFlag, "", "", "bench", "Input",
              "measure steps of training instead (needs LibTorch): a classifier on packed sequences, forward, backward "
              "and AdamW"},
    OptionRow{"operations", 0, kFlag, "", "", "bench", "Answer",
              "also show the time of each operation, its share of the total and its fraction of the machine's peak"},
    OptionRow{
        "baseline", 0, kText, "", "FILE", "bench", "Answer",
        "JSON lines with the figures of other libraries (what, peer, seq, ms_min, tokens_per_s): show the speed-up "
        "over them"},
    OptionRow{
        "task", 't', kText, "", "NAME", "eval", "Input",
        "the task, which sets file format and metrics: cola sst-2 mrpc qqp sts-b mnli mnli-mm qnli rte wnli boolq cb "
        "copa alphanli wic wsc multirc record squad squad2 race swag ner nli classification regression multi-label "
        "ranking mlm causal"},
    OptionRow{
        "predictions", 'p', kText, "", "FILE", "eval", "Input",
        "score these answers instead of running a model: tsv with the columns index and prediction, jsonl with idx "
        "and label, json from ids to answers (SQuAD, ReCoRD), CoNLL columns (ner)"},
    OptionRow{"na-prob", 0, kText, "", "FILE", "eval", "Input",
              "squad2: JSON from ids to no-answer probabilities; the best thresholds are then computed"},
    OptionRow{"no-answer-threshold", 0, kNumber, "auto", "auto|-1G..1G", "eval", "Answer",
              "squad2: a question whose --na-prob (of a model: the logit of no answer less that of the best span) is "
              "above this counts as unanswered; auto: 1 with --predictions, 0 with a model"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|tsv|csv|jsonl|text", "eval", "Input",
              "format of the files; auto: by their extension (before .gz, .xz, .zst, .bz2), else by the task"},
    OptionRow{"input-field", 0, kList, "", "NAMES", "eval", "Input",
              "columns or keys of the text and, after a comma, of its pair, if they differ from the task's"},
    OptionRow{"label-field", 0, kList, "", "NAMES", "eval", "Input",
              "column or key of the label, if it differs from the task's; of several between commas each holds a score "
              "(regression) or the share of the class of its name (classification)"},
    OptionRow{"labels-file", 0, kText, "", "FILE", "eval", "Input", "alphanli: the labels, 1 or 2, one per line"},
    OptionRow{
        "max-tokens", 0, kInteger, "auto", "auto|3..1048576", "eval", "Input",
        "maximum input length in tokens, special tokens included, for SQuAD that of a window; auto: the length "
        "that the model's folder says (a model_max_length below 512 or up to 32768), else 384 for squad and squad2, "
        "512 for other tasks"},
    OptionRow{"truncate", 0, kChoice, "auto", "auto|right|left|window|error", "eval", "Input",
              "what to do with a longer input: cut its end (right), cut its beginning (left), read it in overlapping "
              "windows, or report the row as bad; auto: left if the model's folder says so, else window for ner and "
              "causal, and right for "
              "other tasks; contexts of SQuAD and ReCoRD are always read in windows"},
    OptionRow{"label-map", 0, kList, "", "NAMES", "eval", "Answer",
              "the task's labels in the model's order, if its configuration does not name them"},
    OptionRow{"mlm-probability", 0, kNumber, "0.15", "0..1", "eval", "Input",
              "mlm: fraction of the pieces of a text to mask; at least one piece is masked"},
    OptionRow{"merge-sentences", 0, kFlag, "", "", "eval", "Input",
              "ner: join the sentences of a document, up to --max-tokens, as in the training of the published models, "
              "instead of reading each separately"},
    OptionRow{"on-bad-row", 0, kChoice, "fail", "report|skip|fail", "eval", "Input",
              "what to do with a row that cannot be read or answered: report and skip it, skip it silently, or stop"},
    OptionRow{"bootstrap", 0, kInteger, "1000", "0..1000000", "eval", "Answer",
              "bootstrap samples for the 95 % interval of each metric; 0: no intervals"},
    OptionRow{"seed", 0, kInteger, "0", "0..1000G", "eval", "Answer",
              "seed of the bootstrap samples and of the masks of mlm"},
    OptionRow{"write-predictions", 0, kText, "", "FILE", "eval", "Output",
              "also write the answers, in the format that --predictions reads"},
    OptionRow{"output-dir", 0, kText, "", "DIR", "eval", "Output",
              "also write DIR/all_results.json with the keys of the Hugging Face scripts (eval_accuracy, ...)"},
    OptionRow{
        "list", 0, kFlag, "", "", "eval", "Input",
        "list the tasks with their verbs and metrics, with -f json also files, labels and published hyper-parameters, "
        "and exit"},
    OptionRow{"average", 0, kText, "", "DIR", "eval", "Input",
              "print the averages of GLUE and SuperGLUE from the all_results.json files in DIR and its subfolders, and "
              "exit"},
    OptionRow{"output", 'o', kText, "", "FILE",
              "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval tokenize forward",
              "Output",
              "write to FILE; its extension sets the format if --format is auto; an existing file is replaced only "
              "when the run is complete; - is standard output"},
    OptionRow{"format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl|conll", "ner", "Output",
              "output format; auto: a table on a terminal, tsv elsewhere; conll: one word per line with its label "
              "(after the given label, if there is one), a blank line after each sentence"},
    OptionRow{
        "format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl|trec", "rerank", "Output",
        "output format; auto: a table on a terminal, tsv elsewhere; trec: lines of a TREC run (query, Q0, document, "
        "rank, score, deberta) with the ids of the input, else the numbers of rows and documents"},
    OptionRow{"format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl",
              "classify nli zero-shot qa choose fill score embed detect analyze eval tokenize inspect check "
              "convert info",
              "Output", "output format; auto: a table on a terminal, tsv elsewhere"},
    OptionRow{
        "format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl", "bench", "Output",
        "output format; auto: a table on a terminal, tsv elsewhere; jsonl: each figure as soon as it is measured"},
    OptionRow{"digits", 0, kInteger, "0", "0..17",
              "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval", "Output",
              "significant digits of scores; 0: as many as are needed to read back the same value"},
    OptionRow{"no-header", 0, kFlag, "", "", kTableVerbs, "Output", "no header line in tsv and csv output"},
    OptionRow{"bom", 0, kFlag, "", "", kTableVerbs, "Output",
              "begin csv output with a byte order mark, by which Excel knows UTF-8"},
    OptionRow{"progress", 0, kChoice, "auto", "auto|on|off",
              "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval tokenize check convert "
              "pretrain finetune ablate",
              "General", "progress on standard error; auto: a bar on a terminal, a JSON line every 30 s elsewhere"},
    OptionRow{"man", 0, kFlag, "", "", "help", "Output", "print the manual page of all verbs, as troff"},
    OptionRow{"quiet", 'q', kFlag, "", "", "*", "General", "no notes or warnings on standard error"},
    OptionRow{"config", 0, kText, "", "FILE", "*", "General",
              "read options from this JSON file: {\"threads\": 2, \"qa\": {\"top-k\": 3}}; options under a verb apply "
              "to that verb only"},
    OptionRow{"print-config", 0, kFlag, "", "", "*", "General",
              "print the options that are set, as a --config file, with their origins on standard error, and exit"},
};

constexpr std::string_view kSections[] = {"Model",           "Server", "Limits", "Input",   "Training",
                                          "Replaced tokens", "Answer", "Output", "Compute", "General"};

// Pages show options by their section: one in no section would be on none of them.
constexpr bool is_in_a_section(const OptionRow& row) {
  return std::ranges::find(kSections, row.section) != std::end(kSections);
}
static_assert(std::ranges::all_of(kOptions, is_in_a_section));

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
    ScriptRow{"train-tokenizer", "make a tokenizer from text files (in a checkout, by ./run: docs/training.md)",
              "train-tokenizer --vocab-size 32000 -o TOKENIZER corpus.txt.xz"},
};

}  // namespace

std::span<const OptionAlias> option_aliases() {
  return kAliases;
}
std::span<const VerbRow> verb_table() {
  return kVerbs;
}
std::span<const ScriptRow> script_table() {
  return kScripts;
}
std::span<const OptionRow> option_table() {
  return kOptions;
}
std::span<const std::string_view> option_sections() {
  return kSections;
}

}  // namespace deberta
