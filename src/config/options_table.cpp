// The rows: verbs and options. Nothing else in the program names an option's type, default or range.
#include <array>

#include "config/options.h"

namespace deberta {
namespace {

using enum OptionType;

constexpr std::string_view kTextVerbs = "classify nli zero-shot ner qa choose rerank fill score embed detect tokenize";
constexpr std::string_view kReadingVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect tokenize convert";
constexpr std::string_view kEncodingVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect eval tokenize convert";
constexpr std::string_view kModelVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect eval forward";
// Those that open weights.
constexpr std::string_view kWeightVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect eval forward inspect check convert bench info";
// Those that print rows or tables in the formats of answers.
constexpr std::string_view kTableVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect eval tokenize inspect check convert bench";

constexpr std::array kVerbs = {
    VerbRow{"classify", "label texts or pairs of texts; regression scores", "[TEXT...]",
            "classify -m DIR \"a gorgeous , witty , seductive movie .\""},
    VerbRow{"nli", "does a premise entail a hypothesis: labels by name", "[PREMISE HYPOTHESIS...]",
            "nli -m DIR \"A man plays a guitar .\" \"Someone makes music .\""},
    VerbRow{"zero-shot", "label texts with labels of your own, by a model of entailment", "[TEXT...]",
            "zero-shot -m DIR --labels sports,politics \"The match ended in a draw .\""},
    VerbRow{"ner", "find entities in texts, or label each piece", "[TEXT...]",
            "ner -m DIR \"Ada Lovelace was born in London .\""},
    VerbRow{"qa", "find the answer to a question in a context", "[QUESTION CONTEXT...]",
            "qa -m DIR \"Who wrote it?\" \"Mary Shelley wrote Frankenstein .\""},
    VerbRow{"choose", "which of several choices goes with a context and a question",
            "[CONTEXT QUESTION CHOICE CHOICE...]",
            "choose -m DIR \"It rained all day .\" \"What was the street?\" wet dry"},
    VerbRow{"rerank", "order documents by how well they answer a query (cross-encoders, reward models)",
            "[QUERY DOCUMENT...]", "rerank -m DIR \"capital of France\" \"Paris is a city .\" \"Cats purr .\""},
    VerbRow{"embed", "turn texts, or their tokens, into vectors", "[TEXT...]",
            "embed -m DIR --normalize -o vectors.npy \"one text\" \"another\""},
    VerbRow{"fill", "guess the masked tokens of a text", "[TEXT...]",
            "fill -m DIR \"The capital of France is [MASK].\""},
    VerbRow{"score", "how probable a masked language model finds a text: pseudo-perplexity", "[TEXT...]",
            "score -m DIR --tokens --format json \"The cat sat on the mat .\""},
    VerbRow{"detect", "find pieces of a text that were replaced (discriminators)", "[TEXT...]",
            "detect -m DIR \"The chef ate the meal .\""},
    VerbRow{"tokenize", "show ids, pieces and offsets, or turn ids back into text", "[TEXT...]",
            "tokenize -m DIR \"Hello world\""},
    VerbRow{"forward", "run the model on ids from a file: every layer, pooled, logits, attention scores", "",
            "forward -m DIR --ids in.safetensors -o out.safetensors"},
    VerbRow{"eval", "score a labelled file, or predictions for it, with the official metrics of a task", "[FILE...]",
            "eval --task sst-2 -m DIR dev.tsv"},
    VerbRow{"inspect", "list the tensors of a model, or the differences of two", "", "inspect -m DIR --stats"},
    VerbRow{"check", "look for mistakes in a model directory; write a copy without them", "", "check -m DIR"},
    VerbRow{"convert", "write a model directory in another form: safetensors, shards, type, layout, names", "",
            "convert -m DIR --to DIR2 --verify"},
    VerbRow{"bench", "measure latency and throughput on random ids, beside the machine's peak", "",
            "bench -m DIR --threads 1,2 --lengths 32,128,512 --operations"},
    VerbRow{"info", "show the version, the processor, the kernels and, with -m, a model", "", "info"},
    VerbRow{"completion", "print a completion script for bash, zsh or fish", "SHELL", "completion bash"},
    VerbRow{"help", "show help for a verb", "[VERB]", "help classify"},
};

constexpr std::array kOptions = {
    OptionRow{"model", 'm', kText, "", "DIR",
              "classify nli zero-shot ner qa choose rerank fill score embed detect eval tokenize forward inspect check "
              "convert "
              "bench info",
              "Model",
              "model directory (config.json, weights, tokenizer), builtin[:NAME], or ORG/NAME[@REVISION] in the local "
              "hub cache; without -m the built-in model",
              "0.1.0", false},
    OptionRow{"load", 0, kChoice, "mmap", "mmap|read", kWeightVerbs, "Model",
              "map the weights, or read them into memory: for network file systems and files that others may cut short",
              "0.1.0", false},
    OptionRow{"no-crc", 0, kFlag, "", "", kWeightVerbs, "Model",
              "do not check the CRC-32 of weights in a pytorch_model.bin", "0.1.0", false},
    OptionRow{"kernels", 0, kChoice, "auto", "auto|check|reference|avx2|avx_vnni|avx512|avx512_vnni|avx512_bf16|amx",
              "classify nli zero-shot ner qa choose rerank fill score embed detect eval forward bench info", "Compute",
              "kernels to use; check runs the reference beside each and reports the worst difference", "0.1.0", false},
    OptionRow{"dtype", 0, kChoice, "auto", "auto|fp32|bf16|int8",
              "classify nli zero-shot ner qa choose rerank fill score embed detect eval forward bench", "Compute",
              "what matrix products and attention multiply in; auto: int8 for weights stored in int8, else fp32",
              "0.1.0", false},
    OptionRow{"allow-uncalibrated", 0, kFlag, "", "", kModelVerbs, "Compute",
              "run int8 without a calibration of the activations; answers of some models are then wrong", "0.1.0",
              false},
    OptionRow{"threads", 0, kInteger, "0", "0..1024", kModelVerbs, "Compute",
              "threads; 0: the processors that this process may use", "0.1.0", false},
    OptionRow{"compat", 0, kChoice, "original", "original|hf", kModelVerbs, "Compute",
              "where the original code and transformers differ (far distances, mask decoder, rows of padding), whom to "
              "follow",
              "0.1.0", false},
    OptionRow{"batch-tokens", 0, kSize, "16k", "1..16M",
              "classify nli zero-shot ner qa choose rerank fill score embed detect eval bench", "Compute",
              "tokens computed at once", "0.1.0", false},
    OptionRow{"input", 'i', kFiles, "", "FILE", kTextVerbs, "Input",
              "read rows from FILE, compressed or not (- is standard input, which is also read when no text is "
              "given); given several times, one file after the other",
              "0.1.0", false},
    OptionRow{"input", 'i', kFiles, "", "FILE", "eval", "Input",
              "a labelled file, or a folder of such files, as the arguments name them", "0.1.0", false},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|text|tsv|csv|jsonl|json|conll", "ner", "Input",
              "form of the input; auto goes by the file's ending (below .gz, .xz, .zst, .bz2), else by its first line: "
              "JSON, or one text a line; conll: a "
              "word a line, its label last, a blank line after each sentence",
              "0.1.0", false},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|text|tsv|csv|jsonl|json",
              "classify nli zero-shot qa choose rerank fill score embed detect tokenize convert", "Input",
              "form of the input; auto goes by the file's ending (below .gz, .xz, .zst, .bz2), else by its first line: "
              "JSON, or one text a line",
              "0.1.0", false},
    OptionRow{
        "input-field", 0, kList, "", "NAMES", kReadingVerbs, "Input",
        "columns or keys that hold the texts of a row, in order (default: text,text_pair; question,context; "
        "context,question,choices; query,documents); numbers count columns from 1 of a file without a header line",
        "0.1.0", false},
    OptionRow{"pair", 0, kFlag, "", "", "classify tokenize", "Input",
              "texts given as arguments come in twos, lines hold two texts with a tab between", "0.1.0", false},
    OptionRow{
        "keep", 0, kList, "all", "all|none|NAMES", kTextVerbs, "Output",
        "keys or columns of the input row copied to the output: all others than the texts, to json and jsonl; those "
        "named, also to tsv, csv and tables, where they come first",
        "0.1.0", false},
    OptionRow{"on-bad-row", 0, kChoice, "report", "report|skip|fail", kTextVerbs, "Input",
              "a row that cannot be answered: keep its place with the error, leave it out, or stop", "0.1.0", false},
    OptionRow{"max-tokens", 0, kInteger, "512", "3..1048576",
              "classify nli zero-shot ner choose rerank fill score embed detect tokenize convert", "Input",
              "longest input in tokens, the special ones included", "0.1.0", false},
    OptionRow{"truncate", 0, kChoice, "right", "right|left|error",
              "nli zero-shot choose rerank fill score embed detect", "Input",
              "what to do with a longer input: cut its end, its beginning, or report the row as bad", "0.1.0", false},
    OptionRow{
        "truncate", 0, kChoice, "right", "right|left|window|error", "classify", "Input",
        "what to do with a longer input: cut its end, its beginning, read it in windows and take the mean of their "
        "logits, or report the row as bad",
        "0.1.0", false},
    OptionRow{
        "truncate", 0, kChoice, "window", "window|right|left|error", "ner", "Input",
        "what to do with a longer input: read it in windows, cut its end, its beginning, or report the row as bad",
        "0.1.0", false},
    OptionRow{"stride", 0, kInteger, "128", "0..1048575", "classify ner", "Input",
              "tokens that a window shares with the one before it", "0.1.0", false},
    OptionRow{"max-seq-len", 0, kInteger, "384", "8..1048576", "qa", "Input",
              "longest window in tokens: question, part of the context, special tokens", "0.1.0", false},
    OptionRow{"doc-stride", 0, kInteger, "128", "0..1048575", "qa", "Input",
              "tokens of the context that a window shares with the one before it (half a window at most)", "0.1.0",
              false},
    OptionRow{"max-question-len", 0, kInteger, "64", "1..1048576", "qa", "Input",
              "longest question in tokens; the rest is cut", "0.1.0", false},
    OptionRow{"query", 0, kText, "", "TEXT", "rerank", "Input", "the query; then every row is a document", "0.1.0",
              false},
    OptionRow{"labels", 0, kList, "", "NAMES", "zero-shot", "Input", "candidate labels", "0.1.0", false},
    OptionRow{"labels-file", 0, kText, "", "FILE", "zero-shot", "Input", "candidate labels, one a line", "0.1.0",
              false},
    OptionRow{"template", 0, kText, "This example is {}.", "TEXT", "zero-shot", "Input",
              "the hypothesis that a label becomes, {} for the label", "0.1.0", false},
    OptionRow{"form", 0, kChoice, "race", "race|plain|copa", "choose", "Input",
              "race: [CLS] context [SEP] question choice [SEP], white space tidied, question and choice 160 tokens at "
              "most; plain: the same as it is written (SWAG, AlphaNLI); copa: the question is cause or effect",
              "0.1.0", false},
    OptionRow{"max-text-bytes", 0, kSize, "1MiB", "1..1GiB", kEncodingVerbs, "Input", "longest text in bytes", "0.1.0",
              false},
    OptionRow{"special-text", 0, kChoice, "parse", "parse|literal", kEncodingVerbs, "Input",
              "[SEP] and the like written in a text: special tokens, or plain text (the mask of fill stays one)",
              "0.1.0", false},
    OptionRow{"tokenizer", 0, kChoice, "slow", "slow|fast", kEncodingVerbs, "Input",
              "whose ids: those of transformers' slow tokenizer, which models were trained with, or of its fast one, "
              "which its pipelines use ([UNK] for what a SentencePiece model writes in bytes)",
              "0.1.0", false},
    OptionRow{"spm-ties", 0, kChoice, "float", "float|double", kEncodingVerbs, "Input",
              "ties of a SentencePiece model: as sentencepiece 0.2 (float) or 0.1.97 (double)", "0.1.0", false},
    OptionRow{"top-k", 'k', kInteger, "0", "0..100000", "classify fill", "Answer",
              "answers per text or mask; 0: 1 label (all of a multi-label model), 5 tokens", "0.1.0", false},
    OptionRow{"top-k", 'k', kInteger, "1", "1..1000", "qa", "Answer", "answers for a question", "0.1.0", false},
    OptionRow{"max-answer-len", 0, kInteger, "15", "1..100000", "qa", "Answer", "longest answer in tokens", "0.1.0",
              false},
    OptionRow{"max-answer-len", 0, kInteger, "30", "1..100000", "eval", "Answer",
              "squad: longest answer in tokens; 30 as in the papers", "0.1.0", false},
    OptionRow{"max-question-len", 0, kInteger, "64", "1..1048576", "eval", "Input",
              "squad: longest question in tokens; the rest is cut", "0.1.0", false},
    OptionRow{"doc-stride", 0, kInteger, "128", "0..1048575", "eval", "Input",
              "squad: tokens of the context that a window shares with the one before it (half a window at most)",
              "0.1.0", false},
    OptionRow{"align", 0, kChoice, "words", "words|tokens", "qa", "Answer", "where answers may begin and end", "0.1.0",
              false},
    OptionRow{"align", 0, kChoice, "tokens", "tokens|words", "eval", "Answer",
              "squad: where answers may begin and end; tokens: the span itself is counted, as the official script does",
              "0.1.0", false},
    OptionRow{"word-label", 0, kChoice, "first", "first|surest", "eval", "Answer",
              "ner: a word has the label of its first piece, as the models were trained, or of its surest one", "0.1.0",
              false},
    OptionRow{"allow-no-answer", 0, kFlag, "", "", "qa", "Answer",
              "the empty answer is a candidate like any other (models of SQuAD 2.0)", "0.1.0", false},
    OptionRow{"null-threshold", 0, kNumber, "0", "-1000..1000", "qa", "Answer",
              "when given: the answer is empty exactly when its logit is above that of the best span by more than this",
              "0.1.0", false},
    OptionRow{"multi-label", 0, kFlag, "", "", "zero-shot", "Answer",
              "each label by itself: entailment against contradiction, instead of label against label", "0.1.0", false},
    OptionRow{"top-n", 0, kInteger, "0", "0..1000000", "rerank", "Answer", "documents of the answer; 0: all", "0.1.0",
              false},
    OptionRow{"return-text", 0, kFlag, "", "", "rerank", "Answer", "the documents' texts in json and jsonl too",
              "0.1.0", false},
    OptionRow{"tokens", 0, kFlag, "", "", "score", "Answer", "the log-probability of each token too, in json and jsonl",
              "0.1.0", false},
    OptionRow{"activation", 0, kChoice, "auto", "auto|softmax|sigmoid|none", "classify", "Answer",
              "from logits to scores; auto goes by the model's problem_type", "0.1.0", false},
    OptionRow{"raw", 0, kFlag, "", "", "classify rerank", "Answer", "scores are the logits", "0.1.0", false},
    OptionRow{
        "label-map", 0, kList, "", "NAMES", "nli zero-shot", "Answer",
        "the model's labels in order, when its configuration does not name them: contradiction,neutral,entailment",
        "0.1.0", false},
    OptionRow{
        "aggregate", 0, kChoice, "simple", "none|simple|first|average|max", "ner", "Answer",
        "none: a label for each piece; simple: runs of pieces; first, average, max: words by their first, mean or "
        "surest piece",
        "0.1.0", false},
    OptionRow{"ignore-labels", 0, kList, "O", "NAMES", "ner", "Answer", "labels that are not shown", "0.1.0", false},
    OptionRow{
        "pooling", 0, kChoice, "auto", "auto|cls|mean|max|none", "embed", "Answer",
        "from token vectors to one; auto: all that modules.json of sentence-transformers says (Dense and Normalize "
        "too), else the mean; none: a vector for each token, [CLS] and [SEP] too",
        "0.1.0", false},
    OptionRow{"normalize", 0, kFlag, "", "", "embed", "Answer",
              "divide each vector by its length (auto pooling does when the model's modules.json says so)", "0.1.0",
              false},
    OptionRow{"similarity", 0, kFlag, "", "", "embed", "Answer",
              "rows are pairs of texts; show the cosine of their two vectors", "0.1.0", false},
    OptionRow{"output-dtype", 0, kChoice, "fp32", "fp32|fp16|bf16", "embed", "Output",
              "number format of a .npy (fp32, fp16) or .safetensors file (-o)", "0.1.0", false},
    OptionRow{"layer", 0, kInteger, "-1", "-1000..1000", "embed", "Answer",
              "hidden states of this layer: 0 the embeddings, -1 the last", "0.1.0", false},
    OptionRow{"targets", 0, kList, "", "WORDS", "fill", "Answer", "score only these words, separated by commas",
              "0.1.0", false},
    OptionRow{"emd", 0, kChoice, "auto", "auto|on|off", "fill score eval", "Answer",
              "enhanced mask decoder of a masked language model: auto uses it when the checkpoint has its position "
              "table; off is the plain head",
              "0.1.0", false},
    OptionRow{"threshold", 0, kNumber, "0.5", "0..1", "detect", "Answer",
              "probability from which a piece counts as replaced", "0.1.0", false},
    OptionRow{"color", 0, kChoice, "auto", "auto|always|never", "detect", "Answer",
              "in a table: the text itself, pieces that count as replaced in colour; auto: on a terminal, unless "
              "NO_COLOR is set",
              "0.1.0", false},
    OptionRow{"no-special", 0, kFlag, "", "", "tokenize", "Answer", "do not add [CLS] and [SEP]", "0.1.0", false},
    OptionRow{"decode", 0, kFlag, "", "", "tokenize", "Answer", "inputs are ids separated by spaces; print their text",
              "0.1.0", false},
    OptionRow{"offsets", 0, kChoice, "chars", "chars|bytes|utf16", "ner qa score detect tokenize", "Answer",
              "unit of offsets: Unicode code points, bytes, or UTF-16 units", "0.1.0", false},
    OptionRow{
        "ids", 0, kText, "", "FILE", "forward", "Input",
        "safetensors file with input_ids [B, L] and, where wanted, attention_mask [B, L] or [B, L, L], token_type_ids, "
        "position_ids, relative_buckets [L, L]",
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
    OptionRow{"fix", 0, kText, "", "DIR", "check", "Answer",
              "write a copy to this new folder in which everything is corrected that needs no decision", "0.1.0",
              false},
    OptionRow{"to", 0, kText, "", "DIR", "convert", "Output", "the new folder; it appears when all is written", "0.1.0",
              false},
    OptionRow{"dtype", 0, kChoice, "keep", "keep|fp32|bf16|fp16|int8", "convert", "Answer",
              "type of the weights, rounded to nearest, ties to even; a value too large for fp16 is an error; int8: "
              "weights as they are, and beside them the calibration that --dtype int8 of other verbs needs",
              "0.1.0", false},
    OptionRow{"calibrate", 0, kFiles, "", "FILE", "convert", "Input",
              "with --dtype int8: texts of the kind that the model will read (a few hundred), rows as --input of other "
              "verbs takes them",
              "0.1.0", false},
    OptionRow{"smoothing", 0, kChoice, "auto", "auto|0.4|0.5|0.6|0.7|0.8", "convert", "Answer",
              "with --dtype int8: how much of what is uneven in the activations moves into the weights; auto: 0.7 for "
              "multilingual models, else 0.5",
              "0.1.0", false},
    OptionRow{"adapter", 0, kText, "", "DIR", "convert", "Answer",
              "a LoRA adapter of peft (adapter_config.json), merged into the model that -m names", "0.1.0", false},
    OptionRow{"layout", 0, kChoice, "keep", "keep|v1|v2", "convert", "Answer",
              "v1: fused projections, model_type deberta; v2: separate ones, model_type deberta-v2", "0.1.0", false},
    OptionRow{"head-names", 0, kChoice, "original", "original|hf", "convert", "Answer",
              "names of the language-model head: lm_predictions.lm_head.*, or transformers' cls.predictions.*", "0.1.0",
              false},
    OptionRow{"shard-size", 0, kSize, "5G", "1..1000G", "convert", "Output",
              "largest file of weights; a model that is larger is written as shards with an index", "0.1.0", false},
    OptionRow{"verify", 0, kFlag, "", "", "convert", "Output",
              "before the folder gets its name, read it again, compare every tensor, and run the model from both "
              "folders; int8: "
              "also run the texts in fp32 and in int8, and refuse a cosine below .999",
              "0.1.0", false},
    OptionRow{"strict", 0, kFlag, "", "", "check", "Answer", "warnings count as errors", "0.1.0", false},
    OptionRow{"threads", 0, kList, "0", "0|NUMBERS", "bench", "Compute",
              "threads, one run after the other for each number; 0: the processors that this process may use", "0.1.0",
              false},
    OptionRow{"lengths", 0, kList, "32,128,512", "NUMBERS", "bench", "Input",
              "tokens of a sequence, a latency for each", "0.1.0", false},
    OptionRow{"lengths-file", 0, kText, "", "FILE", "bench", "Input",
              "lengths, one a line: the throughput of all, sorted and packed", "0.1.0", false},
    OptionRow{"batch", 0, kList, "1", "NUMBERS", "bench", "Input", "sequences computed at once, for each length",
              "0.1.0", false},
    OptionRow{"budget", 0, kNumber, "2", "0..3600", "bench", "Input", "seconds for each figure (5 runs at least)",
              "0.1.0", false},
    OptionRow{"operations", 0, kFlag, "", "", "bench", "Answer",
              "also show the time of each operation, its share and its part of the machine's peak", "0.1.0", false},
    OptionRow{"against", 0, kText, "", "FILE", "bench", "Answer",
              "JSON lines of other libraries' figures (what, peer, seq, ms_min, tokens_per_s): show how many times as "
              "fast this is",
              "0.1.0", false},
    OptionRow{"json", 0, kFlag, "", "", "bench", "Output", "a JSON object a line, as soon as it is measured", "0.1.0",
              false},
    OptionRow{"json", 0, kFlag, "", "", "info", "Output", "one JSON object (--format jsonl)", "0.1.0", false},
    OptionRow{
        "task", 't', kText, "", "NAME", "eval", "Input",
        "what the files hold and what is counted: cola sst-2 mrpc qqp sts-b mnli mnli-mm qnli rte wnli boolq cb copa "
        "alphanli wic wsc multirc record squad squad2 race swag ner nli classification regression multi-label mlm",
        "0.1.0", false},
    OptionRow{
        "predictions", 'p', kText, "", "FILE", "eval", "Input",
        "score these answers instead of running a model: tsv with the columns index and prediction, jsonl with idx "
        "and label, json from ids to answers (SQuAD, ReCoRD), CoNLL columns (ner)",
        "0.1.0", false},
    OptionRow{
        "na-prob", 0, kText, "", "FILE", "eval", "Input",
        "squad2: json from ids to how sure a model is that there is no answer; the best thresholds are then found",
        "0.1.0", false},
    OptionRow{"na-threshold", 0, kNumber, "1", "-1G..1G", "eval", "Answer",
              "squad2: above this number of --na-prob a question counts as answered with nothing", "0.1.0", false},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|tsv|csv|jsonl|text", "eval", "Input",
              "form of the files; auto goes by their ending (below .gz, .xz, .zst, .bz2), else by the task", "0.1.0",
              false},
    OptionRow{"input-field", 0, kList, "", "NAMES", "eval", "Input",
              "columns or keys of the text and, after a comma, its pair, where they are not the task's", "0.1.0",
              false},
    OptionRow{"label-field", 0, kText, "", "NAME", "eval", "Input",
              "column or key of the label, where it is not the task's", "0.1.0", false},
    OptionRow{"labels-file", 0, kText, "", "FILE", "eval", "Input", "alphanli: the labels, 1 or 2 a line", "0.1.0",
              false},
    OptionRow{"max-tokens", 0, kInteger, "512", "3..1048576", "eval", "Input",
              "longest input in tokens, the special ones included; of a window of SQuAD 384 unless it is given",
              "0.1.0", false},
    OptionRow{
        "truncate", 0, kChoice, "right", "right|left|window|error", "eval", "Input",
        "what to do with a longer input: cut its end, its beginning, read it in windows (sentences of ner always, "
        "unless this is given), or report the row as bad; contexts of SQuAD and ReCoRD are read in windows",
        "0.1.0", false},
    OptionRow{"label-map", 0, kList, "", "NAMES", "eval", "Answer",
              "the task's labels in the model's order, when its configuration does not name them", "0.1.0", false},
    OptionRow{"mask-share", 0, kNumber, "0.15", "0..1", "eval", "Input",
              "mlm: the share of a text's pieces that are masked, one at least", "0.1.0", false},
    OptionRow{"merge-sentences", 0, kFlag, "", "", "eval", "Input",
              "ner: the sentences of a document as one text, as many as --max-tokens holds, as the published models "
              "were trained; else each by itself",
              "0.1.0", false},
    OptionRow{"on-bad-row", 0, kChoice, "fail", "report|skip|fail", "eval", "Input",
              "a row that cannot be read or answered: say so and leave it out, leave it out, or stop: by default no "
              "figure leaves a row out",
              "0.1.0", false},
    OptionRow{"bootstrap", 0, kInteger, "1000", "0..1000000", "eval", "Answer",
              "samples for the 95 % interval of each metric; 0: no intervals", "0.1.0", false},
    OptionRow{"seed", 0, kInteger, "0", "0..1000G", "eval", "Answer", "of those samples, and of the masks of mlm",
              "0.1.0", false},
    OptionRow{"write-predictions", 0, kText, "", "FILE", "eval", "Output",
              "also write the answers, as --predictions reads them", "0.1.0", false},
    OptionRow{"output-dir", 0, kText, "", "DIR", "eval", "Output",
              "also write DIR/all_results.json with the keys of the Hugging Face scripts (eval_accuracy, ...)", "0.1.0",
              false},
    OptionRow{"list", 0, kFlag, "", "", "eval", "Input",
              "instead: the tasks with their files, labels, metrics and published hyper-parameters", "0.1.0", false},
    OptionRow{"average", 0, kText, "", "DIR", "eval", "Input",
              "instead: the averages of GLUE and SuperGLUE from the all_results.json in DIR and its folders", "0.1.0",
              false},
    OptionRow{"output", 'o', kText, "", "FILE",
              "classify nli zero-shot ner qa choose rerank fill score embed detect eval tokenize forward", "Output",
              "write to FILE, whose ending chooses the format where --format is auto; a file is replaced only when all "
              "is done (- is standard output; devices and pipes are written straight to)",
              "0.1.0", false},
    OptionRow{
        "format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl|conll", "ner", "Output",
        "form of the output; auto: table on a terminal, tsv elsewhere; conll: a word a line with its label (after "
        "the given one, where there is one), a blank line after each sentence",
        "0.1.0", false},
    OptionRow{"format", 'f', kChoice, "auto", "auto|table|tsv|csv|json|jsonl",
              "classify nli zero-shot qa choose rerank fill score embed detect eval tokenize inspect check convert "
              "bench info",
              "Output", "form of the output; auto: table on a terminal, tsv elsewhere", "0.1.0", false},
    OptionRow{"digits", 0, kInteger, "0", "0..17",
              "classify nli zero-shot ner qa choose rerank fill score embed detect eval", "Output",
              "significant digits of scores; 0: the shortest text that reads back to the same value", "0.1.0", false},
    OptionRow{"no-header", 0, kFlag, "", "", kTableVerbs, "Output", "no header line in tsv and csv output", "0.1.0",
              false},
    OptionRow{"progress", 0, kChoice, "auto", "auto|on|off",
              "classify nli zero-shot ner qa choose rerank fill score embed detect eval tokenize check convert",
              "General", "progress on standard error: auto shows a bar on a terminal, a JSON line each 30 s elsewhere",
              "0.1.0", false},
    OptionRow{"man", 0, kFlag, "", "", "help", "Output", "the manual page of all verbs, as troff", "0.1.0", false},
    OptionRow{"quiet", 'q', kFlag, "", "", "*", "General", "no notes and warnings on standard error", "0.1.0", false},
    OptionRow{"config", 0, kText, "", "FILE", "*", "General",
              "read options from this JSON file: {\"threads\": 2, \"qa\": {\"top-k\": 3}}; what stands under a verb is "
              "for that verb",
              "0.1.0", false},
    OptionRow{"print-config", 0, kFlag, "", "", "*", "General",
              "print the options that are set as a --config file, and on standard error the origin of each, and stop",
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
