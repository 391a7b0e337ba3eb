// Options under the heading Answer: the contents of an answer.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kAnswerRows[] = {
    of(parameter("classify", "top_k"), "top-k", 'k'),
    of(parameter("fill", "top_k"), "top-k", 'k', "; 0: five"),
    of(parameter("qa", "top_k"), "top-k", 'k'),
    of(parameter("qa", "max_answer_tokens"), "max-answer-len", 0),
    in_eval(parameter("qa", "max_answer_tokens"), "max-answer-len", "30",
            "squad: maximum answer length in tokens; 30 as in the papers"),
    of(parameter("qa", "align"), "align", 0),
    OptionRow{"align", 0, kChoice, "tokens", "tokens|words", "eval",
              "squad: where answers may begin and end; tokens: score the span itself, as the official script does"},
    OptionRow{"word-label", 0, kChoice, "first", "first|most_confident", "eval",
              "ner: a word takes the label of its first piece, as models are trained, or of its most confident piece"},
    of(parameter("qa", "allow_no_answer"), "allow-no-answer", 0),
    of(parameter("qa", "no_answer_threshold"), "no-answer-threshold", 0),
    of(parameter("zero-shot", "multi_label"), "multi-label", 0),
    of(parameter("extract", "multi_label"), "multi-label", 0),
    of(parameter("extract", "nested"), "nested", 0),
    OptionRow{"nested", 0, kFlag, "", "", "eval", "extract: also find entities within others"},
    of(parameter("extract", "join"), "join", 0),
    of(parameter("extract", "threshold"), "threshold", 0),
    OptionRow{"threshold", 0, kNumber, "0.5", "0..1", "eval",
              "extract: probability that a span must exceed to be an entity"},
    OptionRow{"redact", 0, kFlag, "", "", "extract",
              "print the texts with a placeholder in place of each entity, such as [PERSON_1], the same for the same "
              "entity in all rows"},
    OptionRow{"restore", 0, kText, "", "FILE", "extract",
              "put back what placeholders stand for, by the FILE that --redact-map wrote; needs no model"},
    of(parameter("rerank", "top_n"), "top-k", 'k', "; 0: all"),
    of(parameter("rerank", "return_text"), "return-text", 0, " in json and jsonl"),
    of(parameter("score", "tokens"), "tokens", 0, " in json and jsonl"),
    of(parameter("classify", "window_scores"), "window-scores", 0,
       " in code points (json and jsonl: the mean as well); requires --truncate window"),
    OptionRow{"window-scores", 0, kChoice, "mean", "mean|max", "eval",
              "how a text that is read in windows (--truncate window) is answered; mean: by the mean of the windows' "
              "logits; max: by the window in which a class that is not benign scores highest"},
    OptionRow{
        "window-scores", 0, kChoice, "off", "off|mean|max", "serve",
        "how a text that is too long is classified where a request does not say it; off: as --truncate says; mean: "
        "in windows, by the mean of their logits; max: by the window in which a class that is not benign scores "
        "highest, for guards"},
    several(of(parameter("classify", "benign_labels"), "benign-label", 0, "; may be repeated")),
    OptionRow{"benign-label", 0, kFiles, "", "LABEL", "eval",
              "a benign class, for --window-scores max and --false-positive-rate; may be repeated; default: the "
              "classes named benign, safe, clean, ham or legit"},
    OptionRow{"benign-label", 0, kFiles, "", "LABEL", "serve",
              "a benign class of every model that classifies, for --window-scores max; may be repeated; default: the "
              "classes named benign, safe, clean, ham or legit"},
    OptionRow{"false-positive-rate", 0, kList, "", "RATES", "eval",
              "for guards: report the share of benign rows that are flagged and the share of findings that are missed, "
              "and for each of these rates the threshold from which at most that share of the benign rows is flagged, "
              "with both errors there"},
    OptionRow{
        "metrics", 0, kList, "", "NAMES", "eval",
        "report these instead of the task's own metrics, for rows with classes or scores: accuracy f1 precision recall "
        "f_beta roc_auc average_precision f1_macro f_beta_macro matthews_correlation quadratic_weighted_kappa log_loss "
        "f1_micro f_beta_micro pearson spearmanr mse, as far as they apply to the task"},
    OptionRow{"beta", 0, kNumber, "auto", "auto|0..1000", "eval",
              "beta of f_beta and of --best-threshold: recall counts beta times as much as precision; auto: 1 for "
              "--best-threshold"},
    OptionRow{"positive-label", 0, kText, "", "LABEL", "eval",
              "name of the positive class for f1, f_beta, precision, recall, roc_auc, average_precision and "
              "thresholds; default: the second of the two classes that the task itself has; for thresholds of "
              "multi-label, each class in turn"},
    OptionRow{"label-order", 0, kList, "", "NAMES", "eval",
              "quadratic_weighted_kappa: the classes from lowest to highest, if their names are not numbers"},
    OptionRow{"best-threshold", 0, kFlag, "", "", "eval",
              "report the threshold on the score of the positive class with the best F1 (with --beta, the best "
              "F-beta), and precision and recall there"},
    OptionRow{"recall-at-precision", 0, kList, "", "NUMBERS", "eval",
              "report for each of these precisions the highest recall of the positive class, and its threshold"},
    OptionRow{"precision-at-recall", 0, kList, "", "NUMBERS", "eval",
              "report for each of these recalls the highest precision of the positive class, and its threshold"},
    OptionRow{"by", 0, kText, "", "COLUMN", "eval",
              "also report the metrics for each value of this column or key, at most 100 values"},
    of(parameter("classify", "function"), "activation", 0),
    of(parameter("nli", "function"), "activation", 0),
    of(parameter("rerank", "function"), "activation", 0),
    of(parameter("nli", "label_map"), "label-map", 0),
    of(parameter("ner", "aggregation"), "aggregate", 0),
    OptionRow{
        "aggregate", 0, kChoice, "auto", "auto|simple|first|average|max", "eval",
        "ner: score the entities that `ner --aggregate` finds in the text; one that begins or ends inside a word is "
        "wrong; auto: score the labels of words (--word-label)"},
    of(parameter("ner", "ignore_labels"), "ignore-labels", 0),
    of(parameter("embed", "pooling"), "pooling", 0),
    of(parameter("embed", "normalize"), "normalize", 0,
       " (--pooling auto does this if the model's modules.json has Normalize)"),
    OptionRow{"similarity", 0, kFlag, "", "", "embed",
              "treat rows as pairs of texts and print the cosine of their vectors"},
    of(parameter("embed", "layer"), "layer", 0),
    of(parameter("fill", "targets"), "targets", 0, ", separated by commas"),
    OptionRow{
        "emd", 0, kChoice, "auto", "auto|on|off", "fill score eval",
        "whether to use the enhanced mask decoder; auto: if the checkpoint has its position table; off: the plain "
        "head"},
    of(parameter("detect", "threshold"), "threshold", 0),
    OptionRow{"color", 0, kChoice, "auto", "auto|always|never", "detect",
              "in a table, show the text with replaced pieces in colour; auto: on a terminal, unless NO_COLOR is set"},
    OptionRow{"no-special", 0, kFlag, "", "", "tokenize", "do not add [CLS] and [SEP]"},
    OptionRow{"decode", 0, kFlag, "", "", "tokenize", "treat inputs as ids separated by spaces and print their text"},
    of(parameter("ner", "offsets"), "offsets", 0),
    OptionRow{"layers", 0, kList, "all", "all|none|NUMBERS", "forward",
              "layers whose hidden states are written; 0 is the embedding output"},
    OptionRow{"scores", 0, kFlag, "", "", "forward",
              "also write the c2c, c2p and p2c scores and the probabilities of each layer (reference kernels)"},
    OptionRow{"stats", 0, kFlag, "", "", "inspect",
              "also show minimum, maximum, mean, standard deviation and the number of non-finite values"},
    OptionRow{"diff", 0, kText, "", "DIR", "inspect", "compare with this model, tensor by tensor"},
    OptionRow{"dtype", 0, kChoice, "keep", "keep|fp32|bf16|fp16|int8", "convert",
              "dtype of the weights, rounded to nearest, ties to even; a value too large for fp16 is an error; int8: "
              "weights as stored, plus the calibration that --dtype int8 of other verbs needs"},
    OptionRow{"smoothing", 0, kChoice, "auto", "auto|0.4|0.5|0.6|0.7|0.8", "convert",
              "with --dtype int8: how much of the spread of the activations moves into the weights (SmoothQuant's "
              "alpha); auto: 0.7 for multilingual models, else 0.5"},
    OptionRow{"adapter", 0, kText, "", "DIR", "convert",
              "merge this peft LoRA adapter (adapter_config.json) into the model given by -m"},
    OptionRow{"average", 0, kFiles, "", "DIR", "convert",
              "write the mean of the weights (fp32) of -m and of this model, which must have the same form, such as "
              "another checkpoint of the run; may be repeated"},
    OptionRow{"layout", 0, kChoice, "keep", "keep|v1|v2", "convert",
              "v1: fused projections, model_type deberta; v2: separate projections, model_type deberta-v2"},
    OptionRow{"head-names", 0, kChoice, "original", "original|hf", "convert",
              "names of the language-model head: lm_predictions.lm_head.*, or transformers' cls.predictions.*"},
    OptionRow{"drop-delta", 0, kFlag, "", "", "convert",
              "leave out a discriminator's word_embeddings._weight, the difference between its word embeddings and the "
              "generator's: only `pretrain --objective rtd -m` reads it, and can compute it from both models"},
    OptionRow{"strict", 0, kFlag, "", "", "check", "treat warnings as errors"},
    OptionRow{"operations", 0, kFlag, "", "", "bench",
              "also show the time of each operation, its share of the total and its fraction of the machine's peak"},
    OptionRow{
        "baseline", 0, kText, "", "FILE", "bench",
        "JSON lines with the figures of other libraries (what, peer, seq, ms_min, tokens_per_s): show the speed-up "
        "over them"},
    OptionRow{"no-answer-threshold", 0, kNumber, "auto", "auto|-1G..1G", "eval",
              "squad2: a question whose --na-prob (of a model: the logit of no answer less that of the best span) is "
              "above this counts as unanswered; auto: 1 with --predictions, 0 with a model"},
    OptionRow{"label-map", 0, kList, "", "NAMES", "eval",
              "the task's labels in the model's order, if its configuration does not name them"},
    OptionRow{"bootstrap", 0, kInteger, "1000", "0..1000000", "eval",
              "bootstrap samples for the 95 % interval of each metric; 0: no intervals"},
    OptionRow{"seed", 0, kInteger, "0", "0..1000G", "eval", "seed of the bootstrap samples and of the masks of mlm"},
};
static_assert(are_rows(kAnswerRows));

}  // namespace

std::span<const OptionRow> answer_rows() {
  return kAnswerRows;
}

}  // namespace deberta::option_rows
