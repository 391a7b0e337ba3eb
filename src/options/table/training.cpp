// Options under the heading Training: how a model is trained.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kTrainingRows[] = {
    OptionRow{"objective", 0, kChoice, "mlm", "mlm|causal|rtd", "pretrain replay",
              "what is predicted; mlm: masked words; causal: the next piece, from those before it; rtd: which tokens a "
              "generator has replaced"},
    OptionRow{"mlm-probability", 0, kNumber, "0.15", "0..1", "pretrain",
              "fraction of the tokens of a sequence to predict"},
    OptionRow{"max-gram", 0, kInteger, "3", "1..16", "pretrain",
              "maximum number of consecutive words to mask together; 1: pieces instead of words, as in BERT"},
    OptionRow{"uniform-tail", 0, kFlag, "", "", "pretrain",
              "mask the end of a sequence as often as its beginning; the original never masks the last tenth"},
    OptionRow{"max-tokens", 0, kInteger, "128", "8..1048576", "pretrain",
              "length of a sequence in tokens, special tokens included"},
    OptionRow{
        "long-tokens", 0, kInteger, "0", "0..1048576", "pretrain",
        "length of a sequence in the last steps, which have as many tokens as the others; 0: --max-tokens throughout"},
    OptionRow{"long-share", 0, kNumber, "0.15", "0..1", "pretrain", "fraction of the steps with --long-tokens"},
    OptionRow{"short-share", 0, kNumber, "0", "0..1", "pretrain",
              "fraction of the sequences that are cut into shorter ones, of at least 3 pieces, so that the model sees "
              "short texts too; 0: none, as in the original"},
    OptionRow{"batch-size", 0, kInteger, "64", "1..1M", "pretrain", "sequences per step, of --max-tokens each"},
    OptionRow{"gradient-accumulation-steps", 0, kInteger, "1", "1..1M", "pretrain finetune",
              "number of parts in which a step is computed, one after the other, to use less memory"},
    OptionRow{"auto-find-batch-size", 0, kFlag, "", "", "pretrain finetune",
              "before the run, find the smallest number of parts per step that fits in memory, starting from "
              "--gradient-accumulation-steps"},
    OptionRow{"gradient-checkpointing", 0, kFlag, "", "", "pretrain finetune",
              "keep only the input of each layer, and recompute the layer for its gradient: less memory, a third more "
              "time, the same result"},
    OptionRow{"loss-scale", 0, kNumber, "0", "0..16777216", "pretrain finetune",
              "initial scale of the loss for gradients in 16-bit floats; it doubles after 250 steps and halves when "
              "gradients overflow; 0: off"},
    OptionRow{
        "ema-decay", 0, kNumber, "0", "0..1", "pretrain finetune",
        "decay of an exponential moving average of the weights, which is evaluated and becomes the result; 0: off"},
    OptionRow{"max-steps", 0, kInteger, "0", "0..16777215", "pretrain",
              "length of the run in steps; give this, --max-train-tokens or --num-train-epochs"},
    OptionRow{"max-time", 0, kText, "0", "DURATION", "pretrain finetune",
              "stop at the end of the step in which this much time has passed (seconds, or 90m, 8h), and write a "
              "checkpoint and the model; the same command continues the run; 0: no limit"},
    OptionRow{"max-train-tokens", 0, kSize, "0", "0..1000G", "pretrain",
              "length of the run in tokens; give this, --max-steps or --num-train-epochs"},
    OptionRow{"num-train-epochs", 0, kNumber, "0", "0..100000", "pretrain",
              "length of the run in passes over the corpora; give this, --max-steps or --max-train-tokens"},
    OptionRow{"optimizer", 0, kChoice, "xadam", "xadam|adamw", "pretrain finetune replay",
              "xadam: Adam without bias correction, as in the original code; adamw: with bias correction"},
    OptionRow{"learning-rate", 0, kNumber, "5e-4", "0..1", "pretrain replay", "peak learning rate"},
    OptionRow{
        "lr-scheduler-type", 0, kChoice, "linear",
        "linear|cosine|cosine_with_restarts|polynomial|constant|constant_with_warmup|inverse_sqrt|warmup_stable_"
        "decay|warmup_linear|warmup_linear_shift|warmup_constant|warmup_cosine|warmup_linear_cosine|warmup_cyclic_"
        "linear_cosine",
        "pretrain finetune",
        "schedule of the learning rate, by its name in transformers or in the original code (warmup_...)"},
    OptionRow{
        "lr-decay-steps", 0, kNumber, "0.1", "0..16777215", "pretrain finetune",
        "warmup_stable_decay: number of last steps in which the learning rate falls; below 1: a fraction of the run"},
    OptionRow{"lr-decay-type", 0, kChoice, "cosine", "linear|cosine|1-sqrt", "pretrain finetune",
              "warmup_stable_decay: how the learning rate falls"},
    OptionRow{"warmup-steps", 0, kNumber, "0.1", "0..16777215", "pretrain finetune",
              "steps in which the learning rate rises; below 1: a fraction of the run"},
    OptionRow{"weight-decay", 0, kNumber, "0.01", "0..1", "pretrain finetune replay",
              "weight decay of matrices and tables; biases and norms have none"},
    OptionRow{"adam-beta1", 0, kNumber, "0.9", "0..1", "pretrain finetune replay", "decay of the mean gradient"},
    OptionRow{"adam-beta2", 0, kNumber, "0.999", "0..1", "pretrain finetune replay",
              "decay of the mean squared gradient"},
    OptionRow{"adam-epsilon", 0, kNumber, "1e-6", "0..1", "pretrain finetune replay",
              "added to the root of the mean square"},
    OptionRow{"max-grad-norm", 0, kNumber, "1", "0..1000000", "pretrain finetune replay",
              "norm to which gradients are clipped; 0: no clipping"},
    OptionRow{"seed", 0, kInteger, "1234", "0..1000G", "pretrain finetune",
              "random seed of weights, order, masks and dropout"},
    OptionRow{"recipe", 0, kChoice, "none",
              "none|base|large|v3-small|v3-base|v3-large|code-base|code-v2-xlarge|code-v2-xxlarge|code-v3-xsmall|"
              "code-v3-base|code-v3-large|code-v3-continue",
              "pretrain",
              "the published hyper-parameters of pre-training: objective, batch, learning rate, warm-up and steps; "
              "base: by the paper of that model; code-base: by the script beside the original code "
              "(docs/reference/pre-training.md); given options override them"},
    OptionRow{"recipe", 0, kChoice, "none",
              "none|base|large|xlarge|v2-xlarge|v2-xxlarge|v3-xsmall|v3-small|v3-base|"
              "v3-large",
              "finetune",
              "the published hyper-parameters of the task for a model of this size: epochs, warm-up, learning rate, "
              "batch, dropout; given options override them"},
    OptionRow{"batch-size", 0, kInteger, "32", "1..1M", "finetune",
              "samples per step: texts, pairs, questions with their choices, windows"},
    OptionRow{"num-train-epochs", 0, kNumber, "3", "0..100000", "finetune",
              "length of the run in passes over the files"},
    OptionRow{"max-steps", 0, kInteger, "0", "0..16777215", "finetune",
              "length of the run in steps, instead of epochs"},
    OptionRow{"learning-rate", 0, kNumber, "auto", "auto|0..1", "finetune",
              "peak learning rate; auto: by the size of the model, from 2e-4 for the smallest to 1e-5 for large ones "
              "(docs/reference/fine-tuning.md)"},
    OptionRow{"head-learning-rate", 0, kNumber, "auto", "auto|0..1", "finetune",
              "peak learning rate of the head (every tensor outside the encoder and the embeddings); auto: "
              "--learning-rate"},
    OptionRow{"layer-decay", 0, kNumber, "1", "0..1", "finetune",
              "layer-wise decay of the learning rate: the last layer's rate is multiplied by this factor, the layer "
              "before it by its square, and so on down to the embeddings; 1: the same rate for all layers"},
    OptionRow{"cls-dropout", 0, kNumber, "auto", "auto|0..1", "finetune",
              "dropout before the classifier; auto: as set in the model's config.json"},
    OptionRow{"pooling", 0, kChoice, "auto", "auto|first|mean|max|attention", "finetune",
              "what the head for classes, scores or choices reads: the state of the first token, the mean or the "
              "maximum over all tokens, or their mean with learned weights (docs/reference/models.md); auto: as the "
              "model does, else first; a pooling other than the model's begins with a new head"},
    OptionRow{"label-smoothing-factor", 0, kNumber, "0", "0..1", "finetune",
              "share of each label that is spread over all classes"},
    OptionRow{"class-weights", 0, kList, "", "WEIGHTS", "finetune",
              "a weight for each class, in the order of the model's labels, or `balanced`: by how rare it is"},
    OptionRow{"ranking-loss", 0, kChoice, "pairwise", "pointwise|pairwise|listwise|margin-mse", "finetune",
              "ranking: what is learned about a query's documents: each label by itself (pointwise), which of two is "
              "more relevant (pairwise, RankNet), which of all is (listwise, softmax cross-entropy), or the difference "
              "between a teacher's scores of two (margin-mse)"},
    OptionRow{"max-documents", 0, kInteger, "8", "0..1000", "finetune",
              "ranking: maximum number of documents per query in a step: the relevant ones, and others drawn anew for "
              "each epoch; 0: all"},
    OptionRow{
        "span-mode", 0, kChoice, "auto", "auto|markerV0|marker|token_level", "finetune",
        "extract: what a new head scores: spans by both their ends together (markerV0), spans by each end alone "
        "(marker), or words as beginnings, ends and insides (token_level); auto: as the GLiNER model to begin with, "
        "else markerV0"},
    OptionRow{"max-width", 0, kInteger, "auto", "auto|1..100", "finetune",
              "extract: words of the longest span that a new head scores; auto: 12"},
    OptionRow{"rnn-layers", 0, kInteger, "auto", "auto|0..8", "finetune",
              "extract: layers of the LSTM over the words of a new head; auto: 1"},
    OptionRow{"max-labels", 0, kInteger, "25", "1..1000", "finetune",
              "extract: maximum number of labels before a text"},
    OptionRow{"negative-labels", 0, kInteger, "25", "0..1000", "finetune",
              "extract: at most so many of them are labels that the text has no entity of, drawn anew for each epoch "
              "from those of all rows; rows that name the labels they were searched for get these"},
    OptionRow{
        "focal-alpha", 0, kNumber, "auto", "auto|0..1", "finetune",
        "extract: weight of spans that are entities, while others have the rest (focal loss); auto: equal weights"},
    OptionRow{"focal-gamma", 0, kNumber, "0", "0..10", "finetune",
              "extract: how much less is learned from what the model is sure of (focal loss); 0: nothing less"},
    OptionRow{"frozen-layers", 0, kInteger, "auto", "auto|0..1000", "finetune",
              "freeze the embeddings and this number of first layers; auto: train everything"},
    OptionRow{"teacher", 0, kText, "", "DIR", "finetune replay",
              "distillation: learn from the answers of this model too; it must have the same kind of head, the same "
              "classes and the same vocabulary"},
    OptionRow{"teacher-weight", 0, kNumber, "0.5", "0..1", "finetune replay",
              "share of the loss that compares with the teacher; 1: the labels are not used"},
    OptionRow{"teacher-temperature", 0, kNumber, "2", "1..1000", "finetune replay",
              "divide the logits of both models by this before they are compared; not used for regression"},
    OptionRow{"lora-rank", 0, kInteger, "0", "0..1024", "finetune",
              "train only the head and low-rank updates (LoRA) of this rank for some matrices; 0: train all weights"},
    OptionRow{"lora-alpha", 0, kNumber, "8", "0..100000", "finetune",
              "with --lora-rank: the updates are scaled by this value divided by the rank"},
    OptionRow{"lora-targets", 0, kList, "query_proj,value_proj", "NAMES", "finetune",
              "with --lora-rank: which matrices: query_proj, key_proj, value_proj, pos_query_proj, pos_key_proj, "
              "attention.output.dense, intermediate.dense, output.dense (both of that name, as in peft)"},
    OptionRow{"reinit-layers", 0, kInteger, "0", "0..1000", "finetune",
              "begin this number of last layers with new random weights"},
    OptionRow{"adversarial", 0, kChoice, "none", "none|sift|vat", "finetune replay",
              "also train on small perturbations of the embeddings, so that they do not change the answer; sift: of "
              "embeddings that are normalised first (DeBERTa, section 5); vat: of the embeddings as they are"},
    OptionRow{"vat-lambda", 0, kNumber, "5", "0..1000", "finetune replay", "sift, vat: weight of the adversarial loss"},
    OptionRow{"vat-learning-rate", 0, kNumber, "1e-4", "0..1000", "finetune replay",
              "sift, vat: step size of the perturbation along its gradient"},
    OptionRow{"vat-init-perturbation", 0, kNumber, "1e-2", "0..1000", "finetune replay",
              "sift, vat: standard deviation of the initial random perturbation"},
    OptionRow{"vat-loss-fn", 0, kChoice, "symmetric-kl", "symmetric-kl|kl|mse", "finetune replay",
              "sift, vat: distance between two answers, in the search for the perturbation"},
    OptionRow{
        "sift-compat", 0, kChoice, "corrected", "corrected|original", "finetune replay",
        "sift, vat: the loss that fits the head, or that of the published code, whose softmax of scores runs over "
        "the batch"},
    OptionRow{"task-loss", 0, kChoice, "none", "none|class|score|labels|tokens|span|choice|mention", "replay",
              "losses of a task's head instead of --objective; docs/reference/replay.md describes N.labels for each"},
};
static_assert(are_rows(kTrainingRows));

}  // namespace

std::span<const OptionRow> training_rows() {
  return kTrainingRows;
}

}  // namespace deberta::option_rows
