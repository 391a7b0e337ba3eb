// Options under the heading Input: texts, files and their fields.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kInputRows[] = {
    OptionRow{
        "truncate", 0, kChoice, "auto", "auto|right|error", "serve",
        "whether texts that are too long are cut at their end or refused; auto: refused on the routes of "
        "text-embeddings-inference and OpenAI, as those servers do, and cut on all others; a request can override it"},
    OptionRow{"cache-dir", 0, kText, "", "DIR", "pretrain",
              "where the tokens of corpora are kept (default: deberta in the user's cache folder)"},
    OptionRow{"hold-out-every", 0, kInteger, "50", "0..1M", "pretrain",
              "hold out every Nth document of each corpus for evaluation; 0: none"},
    OptionRow{
        "hold-out-every", 0, kInteger, "0", "0..1M", "eval",
        "mlm, causal: read the files as corpora of documents, as `pretrain` does, and score every Nth document; 0: "
        "every line"},
    OptionRow{"document-boundary", 0, kChoice, "none", "none|sep|block", "pretrain",
              "what separates documents in a sequence; none: nothing; sep: a [SEP]; block: no attention between them"},
    OptionRow{"source-weights", 0, kList, "", "WEIGHTS", "pretrain",
              "a weight for each corpus, in the order of the arguments (default: 1 each)"},
    OptionRow{"source-exponent", 0, kNumber, "1", "0..1", "pretrain",
              "corpora are sampled in proportion to their weight times their size to this power; below 1, small ones "
              "are sampled more often"},
    OptionRow{"task", 't', kText, "", "NAME", "finetune",
              "the task, which sets the format of the files, the head and the metrics: any with labels (deberta eval "
              "--list)"},
    OptionRow{"train-file", 0, kFiles, "", "FILE", "finetune", "labelled file or folder to train on"},
    OptionRow{
        "validation-file", 0, kFiles, "", "FILE", "finetune",
        "labelled file or folder to evaluate on after each epoch, as `deberta eval` does; the best model is kept"},
    OptionRow{
        "validation-split", 0, kNumber, "0", "0..1", "finetune",
        "instead of --validation-file: the share of the training examples, at most 0.5, to hold out and evaluate on, "
        "drawn from --seed; 0: none"},
    OptionRow{"fold", 0, kText, "", "K/N", "finetune",
              "instead of --validation-file: hold out fold K of N folds of the training examples (2 to 100, each with "
              "the same share of every class, drawn from --seed) and run in a folder of its own in -o; after the last "
              "fold the mean metrics and all held-out answers are written to -o"},
    OptionRow{
        "group-field", 0, kText, "", "NAME", "finetune",
        "with --fold or --validation-split: the column or key whose values stay together (a patient, a document)"},
    OptionRow{"labels-file", 0, kText, "", "FILE", "finetune",
              "alphanli: the labels of --train-file, 1 or 2, one per line"},
    OptionRow{"validation-labels-file", 0, kText, "", "FILE", "finetune", "alphanli: the labels of --validation-file"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|tsv|csv|jsonl|text", "finetune",
              "format of the files; auto: by their extension (before .gz, .xz, .zst, .bz2), else by the task"},
    OptionRow{"input-field", 0, kList, "", "NAMES", "finetune",
              "columns or keys of the text and, after a comma, of its pair, if they differ from the task's"},
    OptionRow{"label-field", 0, kList, "", "NAMES", "finetune",
              "column or key of the label, if it differs from the task's; several, separated by commas: each has a "
              "score (regression) or the share of the class of that name (classification)"},
    OptionRow{"weight-field", 0, kText, "", "NAME", "finetune",
              "column or key of the weight of each training row, 0 or more; a step's loss is the weighted mean over "
              "its rows (tasks whose rows have a class, classes or scores); evaluations are not weighted"},
    OptionRow{"merge-sentences", 0, kFlag, "", "", "finetune",
              "ner: join the sentences of a document, up to --max-tokens, as in the training of the published models"},
    OptionRow{
        "on-bad-row", 0, kChoice, "fail", "report|skip|fail", "finetune",
        "what to do with a row of the files that cannot be read: report it and leave it out, leave it out silently, "
        "or stop; labels that a task does not have stop the run in any case"},
    OptionRow{"max-train-samples", 0, kInteger, "0", "0..1000G", "finetune",
              "train on this number of examples, the first of the files; 0: all"},
    OptionRow{"max-tokens", 0, kInteger, "auto", "auto|8..1048576", "finetune",
              "maximum length of a training sequence in tokens, special tokens included (SQuAD: of a window); auto: "
              "the published length of the task, else 256"},
    OptionRow{
        "truncate", 0, kChoice, "auto", "auto|right|window", "finetune",
        "what to do with a text longer than --max-tokens: cut its end (right), or train on overlapping windows of it "
        "(window): each window gets the label of the text, and each word of a ner document is trained on in one "
        "window; auto: window for ner, right for other tasks; contexts of SQuAD and ReCoRD are always read in windows"},
    OptionRow{"stride", 0, kInteger, "128", "0..1048575", "finetune",
              "tokens of a text that consecutive windows share (SQuAD: at most half a window)"},
    OptionRow{"batches", 0, kText, "", "FILE", "replay",
              "safetensors file: ids and labels of each step (docs/reference/replay.md)"},
    OptionRow{"input", 'i', kFiles, "", "FILE", kTextVerbs,
              "read rows from FILE, compressed or not; - is standard input, the default when no text is given; may be "
              "repeated: the files are read in order"},
    OptionRow{"files", 0, kFiles, "", "PATTERN...", kFileVerbs,
              "answer many files, each into a file of its own (--to): paths, or quoted patterns with * ? []; other "
              "processes with the same command, here or on hosts that share the folders, take part, and a command that "
              "is given again does what is left; Parquet by the command of the Python package"},
    OptionRow{"files-from", 0, kText, "", "FILE", kFileVerbs,
              "the same of the paths in FILE, one per line; - is standard input"},
    OptionRow{"input", 'i', kFiles, "", "FILE", "eval",
              "a labelled file or a folder of labelled files, in addition to the arguments"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|text|tsv|csv|jsonl|json|conll", "ner",
              "input format; auto: by the file's extension (before .gz, .xz, .zst, .bz2), else by its first line: "
              "JSON, or one text per line; conll: one word per line, its label last, a blank line after each sentence"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|text|tsv|csv|jsonl|json",
              "classify nli zero-shot extract qa choose rerank fill score embed detect analyze tokenize convert",
              "input format; auto: by the file's extension (before .gz, .xz, .zst, .bz2), else by its first line: "
              "JSON, or one text per line"},
    OptionRow{
        "input-field", 0, kList, "", "NAMES", kReadingVerbs,
        "columns or keys with the texts of a row, in order (default: text,text_pair; nli also premise,hypothesis; qa "
        "question,context; choose context,question,choices; rerank query,documents); numbers are columns, from 1, of "
        "a file without a header line"},
    OptionRow{"pair", 0, kFlag, "", "", "classify analyze tokenize",
              "inputs are pairs: two arguments each, or two texts per line, separated by a tab"},
    OptionRow{"pair", 0, kFlag, "", "", "forward", "texts are pairs: two arguments each"},
    OptionRow{"separator", 0, kText, "", "CHARACTER", kTextVerbs,
              "separator of the cells of tsv and csv files: a character, or tab; default: a tab in tsv, and in csv "
              "what the first line has: sep=;, commas, semicolons or tabs"},
    OptionRow{"on-bad-row", 0, kChoice, "report", "report|skip|fail", kTextVerbs,
              "what to do with a row that cannot be answered: report the error in its place, skip it, or stop"},
    of(parameter("classify", "max_tokens"), "max-tokens", 0),
    of(parameter("nli", "truncate"), "truncate", 0),
    of(parameter("classify", "truncate"), "truncate", 0),
    of(parameter("ner", "truncate"), "truncate", 0),
    of(parameter("extract", "truncate"), "truncate", 0),
    of(parameter("ner", "stride"), "stride", 0),
    of(parameter("qa", "max_tokens"), "max-tokens", 0),
    of(parameter("qa", "stride"), "stride", 0),
    of(parameter("qa", "max_question_tokens"), "max-question-len", 0),
    OptionRow{"query", 0, kText, "", "TEXT", "rerank", "the query; every row is then a document"},
    of(parameter("zero-shot", "labels"), "labels", 0),
    OptionRow{"labels-file", 0, kText, "", "FILE", "zero-shot", "candidate labels, one per line"},
    of(parameter("extract", "labels"), "labels", 0,
       "; a row with the key labels has its own (a list, or an object of descriptions)"),
    OptionRow{"labels-file", 0, kText, "", "FILE", "extract",
              "labels, one per line, with a description after a tab; a FILE that ends with .json has a list of labels, "
              "a list of objects (label, description, threshold) or an object of descriptions"},
    OptionRow{
        "preset", 0, kChoice, "none", "none|pii", "extract",
        "a set of labels; pii: kinds of personal data, named as presidio names them (PERSON, EMAIL_ADDRESS, ...)"},
    of(parameter("zero-shot", "hypothesis_template"), "template", 0),
    of(parameter("choose", "form"), "form", 0),
    OptionRow{"max-text-bytes", 0, kSize, "1MiB", "1..1GiB", kEncodingVerbs, "maximum text length in bytes"},
    OptionRow{"special-text", 0, kChoice, "parse", "parse|literal", kEncodingVerbs,
              "how to read [SEP] and other special tokens in a text: as tokens (parse) or as plain text (literal; fill "
              "still finds its masks)"},
    OptionRow{
        "tokenizer", 0, kChoice, "slow", "slow|fast", kTokenizerVerbs,
        "which transformers tokenizer to match: slow, used to train the models, or fast, used by the transformers "
        "pipelines ([UNK] where a SentencePiece model has byte pieces)"},
    OptionRow{"spm-ties", 0, kChoice, "float", "float|double", kEncodingVerbs,
              "how to break ties in a SentencePiece model: as sentencepiece 0.2 (float) or 0.1.97 (double)"},
    in_eval(parameter("qa", "max_question_tokens"), "max-question-len", "64",
            "squad: maximum question length in tokens; the rest is cut"),
    in_eval(parameter("qa", "stride"), "stride", "128",
            "tokens of a text that consecutive windows share (SQuAD: at most half a window)"),
    OptionRow{
        "ids", 0, kText, "", "FILE", "forward",
        "safetensors file with input_ids [B, L] and optionally attention_mask [B, L] or [B, L, L], token_type_ids, "
        "position_ids, relative_buckets [L, L]"},
    OptionRow{"mask", 0, kText, "", "FILE", "forward", "read attention_mask from this file instead"},
    OptionRow{"calibration-data", 0, kFiles, "", "FILE", "convert",
              "with --dtype int8: a few hundred texts of the kind that the model will read, in any format that --input "
              "of other verbs accepts"},
    OptionRow{"lengths", 0, kList, "32,128,512", "NUMBERS", "bench",
              "sequence lengths in tokens; the latency of each is measured"},
    OptionRow{"lengths-file", 0, kText, "", "FILE", "bench",
              "lengths, one per line; measures the throughput over all of them, sorted and packed"},
    OptionRow{"batch", 0, kList, "1", "NUMBERS", "bench",
              "numbers of sequences per batch, each measured at each length"},
    OptionRow{"min-time", 0, kNumber, "2", "0..3600", "bench", "seconds per measurement (at least 5 runs)"},
    OptionRow{"training", 0, kFlag, "", "", "bench",
              "measure steps of training instead (needs LibTorch): a classifier on packed sequences, forward, backward "
              "and AdamW"},
    OptionRow{
        "task", 't', kText, "", "NAME", "eval",
        "the task, which sets file format and metrics: cola sst-2 mrpc qqp sts-b mnli mnli-mm qnli rte wnli boolq cb "
        "copa alphanli wic wsc multirc record squad squad2 race swag ner extract nli classification regression "
        "multi-label ranking mlm causal"},
    OptionRow{
        "predictions", 'p', kText, "", "FILE", "eval",
        "score these answers instead of running a model: tsv with the columns index and prediction, jsonl with idx "
        "and label, json from ids to answers (SQuAD, ReCoRD), CoNLL columns (ner)"},
    OptionRow{"na-prob", 0, kText, "", "FILE", "eval",
              "squad2: JSON from ids to no-answer probabilities; the best thresholds are then computed"},
    OptionRow{"input-format", 0, kChoice, "auto", "auto|tsv|csv|jsonl|text", "eval",
              "format of the files; auto: by their extension (before .gz, .xz, .zst, .bz2), else by the task"},
    OptionRow{"input-field", 0, kList, "", "NAMES", "eval",
              "columns or keys of the text and, after a comma, of its pair, if they differ from the task's"},
    OptionRow{"label-field", 0, kList, "", "NAMES", "eval",
              "column or key of the label, if it differs from the task's; several, separated by commas: each has a "
              "score (regression) or the share of the class of that name (classification)"},
    OptionRow{"labels-file", 0, kText, "", "FILE", "eval", "alphanli: the labels, 1 or 2, one per line"},
    OptionRow{
        "label-names", 0, kList, "", "NAMES", "eval finetune",
        "extract: what the model reads in place of labels of the files: PER=person,LOC=location; other labels are "
        "read as they stand"},
    OptionRow{
        "max-tokens", 0, kInteger, "auto", "auto|3..1048576", "eval",
        "maximum input length in tokens, special tokens included (SQuAD: of a window); auto: the length in the model's "
        "folder (a model_max_length below 512 or up to 32768), else 384 for squad and squad2, 512 for other tasks"},
    OptionRow{"truncate", 0, kChoice, "auto", "auto|right|left|window|error", "eval",
              "what to do with a longer input: cut its end (right), cut its beginning (left), read it in overlapping "
              "windows, or report the row as bad; auto: left if the model's folder sets it, else window for ner and "
              "causal, and right for other tasks; contexts of SQuAD and ReCoRD are always read in windows"},
    OptionRow{"mlm-probability", 0, kNumber, "0.15", "0..1", "eval",
              "mlm: fraction of the pieces of a text to mask; at least one piece is masked"},
    OptionRow{"merge-sentences", 0, kFlag, "", "", "eval",
              "ner: join the sentences of a document, up to --max-tokens, as in the training of the published models, "
              "instead of reading each separately"},
    OptionRow{"on-bad-row", 0, kChoice, "fail", "report|skip|fail", "eval",
              "what to do with a row that cannot be read or answered: report and skip it, skip it silently, or stop"},
    OptionRow{
        "list", 0, kFlag, "", "", "eval",
        "list the tasks with their verbs and metrics, with -f json also files, labels and published hyper-parameters, "
        "and exit"},
    OptionRow{
        "beside", 0, kFiles, "", "DIR", "report",
        "folder of another run of pre-training, whose positions with a loss the page sets beside this run's; may be "
        "repeated"},
    OptionRow{"average", 0, kText, "", "DIR", "eval",
              "print the averages of GLUE and SuperGLUE from the all_results.json files in DIR and its subfolders, and "
              "exit"},
    OptionRow{"published", 0, kFlag, "", "", "eval",
              "print the results that the authors of DeBERTa published, with the paper and table of each, of all tasks "
              "or of --task, and exit"},
};
static_assert(are_rows(kInputRows));

}  // namespace

std::span<const OptionRow> input_rows() {
  return kInputRows;
}

}  // namespace deberta::option_rows
