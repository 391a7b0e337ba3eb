// The table: the tensors of each head, its uses, its row.
#include "heads/head_facts.h"

#include <algorithm>
#include <array>
#include <string>

#include "deberta/error.h"

namespace deberta {
namespace {

using Config = const ModelConfig&;

constexpr bool pools_by_attention(Config c) {
  return c.classifier_pooling == ClassifierPooling::kAttention;
}
constexpr bool has_own_output(Config c) {
  return !c.ties_output;
}

constexpr bool has_entity_projection(Config c) {
  return c.extraction && c.extraction->hidden_size != c.hidden_size;
}
constexpr bool has_rnn(Config c) {
  return c.extraction && c.extraction->num_rnn_layers > 0;
}
constexpr int64_t rnn_layers(Config c) {
  return c.extraction->num_rnn_layers;
}
constexpr bool has_marker_v0(Config c) {
  return c.extraction && c.extraction->span_mode == SpanMode::kMarkerV0;
}
constexpr bool has_marker(Config c) {
  return c.extraction && c.extraction->span_mode == SpanMode::kMarker;
}

constexpr Activation pooler_act(Config c) {
  return c.pooler_hidden_act;
}
constexpr Activation hidden_act(Config c) {
  return c.hidden_act;
}
constexpr Activation gelu(Config) {  // whatever hidden_act says
  return Activation::kGelu;
}

// ---- tensors

// Published files carry these beside another head.
constexpr TensorRow spare(std::string_view name, std::string_view shape, std::string_view alias = {}) {
  return {.name = name, .shape = shape, .alias = alias, .may_accompany = true};
}

template <size_t kFirst, size_t kSecond>
constexpr std::array<TensorRow, kFirst + kSecond> join(const std::array<TensorRow, kFirst>& first,
                                                       const std::array<TensorRow, kSecond>& second) {
  std::array<TensorRow, kFirst + kSecond> both{};
  std::ranges::copy(first, both.begin());
  std::ranges::copy(second, both.begin() + kFirst);
  return both;
}

constexpr TensorRow kClassifierWeight{.name = "classifier.weight", .shape = "C,D"};
constexpr TensorRow kClassifierBias{.name = "classifier.bias", .shape = "C"};

constexpr std::array kSequenceTensors = {
    // A model that has it and does not say so is another one.
    TensorRow{
        .name = "pooler.attention.weight", .shape = "D", .exists = pools_by_attention, .key = "classifier_pooling"},
    spare("pooler.dense.weight", "D,D"),
    spare("pooler.dense.bias", "D"),
    kClassifierWeight,
    kClassifierBias,
};
constexpr std::array kTokenTensors = {kClassifierWeight, kClassifierBias};
constexpr std::array kTokenOriginalTensors = {
    TensorRow{.name = "proj.weight", .shape = "D,D"},
    TensorRow{.name = "proj.bias", .shape = "D"},
    kClassifierWeight,
    kClassifierBias,
};
constexpr std::array kSpanTensors = {
    TensorRow{.name = "qa_outputs.weight", .shape = "2,D"},
    TensorRow{.name = "qa_outputs.bias", .shape = "2"},
};
constexpr std::array kMaskedLmTensors = {
    spare("lm_predictions.lm_head.dense.weight", "E,D", "cls.predictions.transform.dense.weight"),
    spare("lm_predictions.lm_head.dense.bias", "E", "cls.predictions.transform.dense.bias"),
    spare("lm_predictions.lm_head.LayerNorm.weight", "E", "cls.predictions.transform.LayerNorm.weight"),
    spare("lm_predictions.lm_head.LayerNorm.bias", "E", "cls.predictions.transform.LayerNorm.bias"),
    spare("lm_predictions.lm_head.bias", "V", "cls.predictions.bias"),
    // Where it is tied, a copy of the word table (checkpoint/tensor_rows.cpp).
    TensorRow{.name = kOutputTable,
              .shape = "V,E",
              .exists = has_own_output,
              .is_required = TensorRow::never,
              .key = "tie_word_embeddings",
              .may_accompany = true},
};
constexpr std::array kReplacedTokenTensors = {
    spare("mask_predictions.dense.weight", "D,D"),      spare("mask_predictions.dense.bias", "D"),
    spare("mask_predictions.LayerNorm.weight", "D"),    spare("mask_predictions.LayerNorm.bias", "D"),
    spare("mask_predictions.classifier.weight", "1,D"), spare("mask_predictions.classifier.bias", "1"),
};

// Between the encoder and both heads of entities: a projection and a bidirectional LSTM.
constexpr TensorRow entity_projection(std::string_view name, std::string_view shape) {
  return {.name = name, .shape = shape, .exists = has_entity_projection, .key = "hidden_size"};
}
constexpr TensorRow rnn_layer(std::string_view name, std::string_view shape) {
  return {.name = name, .shape = shape, .exists = has_rnn, .key = "num_rnn_layers", .layers = rnn_layers};
}
constexpr TensorRow of_entities(std::string_view name, std::string_view shape) {
  return {.name = name, .shape = shape, .key = "hidden_size"};
}
constexpr TensorRow of_marker(TensorRow::Condition exists, std::string_view name, std::string_view shape) {
  return {.name = name, .shape = shape, .exists = exists, .key = "span_mode"};
}

constexpr std::array kEntityStates = {
    entity_projection("token_rep_layer.projection.weight", "U,D"),
    entity_projection("token_rep_layer.projection.bias", "U"),
    rnn_layer("rnn.lstm.weight_ih_l{n}", "2*U,U"),
    rnn_layer("rnn.lstm.weight_hh_l{n}", "2*U,U/2"),
    rnn_layer("rnn.lstm.bias_ih_l{n}", "2*U"),
    rnn_layer("rnn.lstm.bias_hh_l{n}", "2*U"),
    rnn_layer("rnn.lstm.weight_ih_l{n}_reverse", "2*U,U"),
    rnn_layer("rnn.lstm.weight_hh_l{n}_reverse", "2*U,U/2"),
    rnn_layer("rnn.lstm.bias_ih_l{n}_reverse", "2*U"),
    rnn_layer("rnn.lstm.bias_hh_l{n}_reverse", "2*U"),
};
constexpr std::array kSpanScoreTensors = {
    of_entities("prompt_rep_layer.0.weight", "4*U,U"),
    of_entities("prompt_rep_layer.0.bias", "4*U"),
    of_entities("prompt_rep_layer.3.weight", "U,4*U"),
    of_entities("prompt_rep_layer.3.bias", "U"),
    of_entities("span_rep_layer.span_rep_layer.project_start.0.weight", "I,U"),
    of_entities("span_rep_layer.span_rep_layer.project_start.0.bias", "I"),
    of_entities("span_rep_layer.span_rep_layer.project_start.3.weight", "U,I"),
    of_entities("span_rep_layer.span_rep_layer.project_start.3.bias", "U"),
    of_entities("span_rep_layer.span_rep_layer.project_end.0.weight", "I,U"),
    of_entities("span_rep_layer.span_rep_layer.project_end.0.bias", "I"),
    of_entities("span_rep_layer.span_rep_layer.project_end.3.weight", "U,I"),
    of_entities("span_rep_layer.span_rep_layer.project_end.3.bias", "U"),
    of_marker(has_marker_v0, "span_rep_layer.span_rep_layer.out_project.0.weight", "4*U,2*U"),
    of_marker(has_marker_v0, "span_rep_layer.span_rep_layer.out_project.0.bias", "4*U"),
    of_marker(has_marker_v0, "span_rep_layer.span_rep_layer.out_project.3.weight", "U,4*U"),
    of_marker(has_marker_v0, "span_rep_layer.span_rep_layer.out_project.3.bias", "U"),
    of_marker(has_marker, "span_rep_layer.span_rep_layer.out_project.weight", "U,2*U"),
    of_marker(has_marker, "span_rep_layer.span_rep_layer.out_project.bias", "U"),
};
constexpr std::array kWordScoreTensors = {
    of_entities("scorer.proj_token.weight", "2*U,U"),  of_entities("scorer.proj_token.bias", "2*U"),
    of_entities("scorer.proj_label.weight", "2*U,U"),  of_entities("scorer.proj_label.bias", "2*U"),
    of_entities("scorer.out_mlp.0.weight", "4*U,3*U"), of_entities("scorer.out_mlp.0.bias", "4*U"),
    of_entities("scorer.out_mlp.3.weight", "3,4*U"),   of_entities("scorer.out_mlp.3.bias", "3"),
};
constexpr std::array kEntitySpanTensors = join(kEntityStates, kSpanScoreTensors);
constexpr std::array kEntityWordTensors = join(kEntityStates, kWordScoreTensors);

// ---- uses

constexpr std::array kSequenceUses = {
    HeadUse{.ending = "ForSequenceClassification",
            .what = "a classifier of texts or pairs of texts",
            .task = "text-classification",
            .peft_task = "SEQ_CLS"},
    HeadUse{
        .ending = "ForMultipleChoice", .what = "a model that picks the choice that fits", .task = "multiple-choice"},
};
constexpr std::array kTokenUses = {
    HeadUse{.ending = "ForTokenClassification",
            .what = "a tagger of words",
            .task = "token-classification",
            .peft_task = "TOKEN_CLS",
            .verbs = "ner, embed"},
};
constexpr std::array kTokenOriginalUses = {
    HeadUse{.ending = "ForTokenClassification",
            .what = "a tagger of words",
            .task = "token-classification",
            .verbs = "ner, embed",
            .is_in_transformers = false,
            .names_head = false},
};
constexpr std::array kSpanUses = {
    HeadUse{.ending = "ForQuestionAnswering",
            .what = "a model that finds answers in a context",
            .task = "question-answering",
            .peft_task = "QUESTION_ANS",
            .verbs = "qa, embed"},
};
constexpr std::array kMaskedLmUses = {
    HeadUse{.ending = "ForMaskedLM",
            .is_causal = false,
            .what = "a masked language model",
            .task = "fill-mask",
            .verbs = "fill, score, embed"},
    HeadUse{.ending = "ForCausalLM",
            .is_causal = true,
            .name = "causal-lm",
            .what = "a causal language model",
            .is_task_of_hub = false,
            .verbs = "eval, embed",
            .is_in_transformers = false},
};
constexpr std::array kReplacedTokenUses = {
    HeadUse{.ending = "ForPreTraining",
            .what = "a discriminator of replaced tokens",
            .task = "replaced-token-detection",
            .is_task_of_hub = false,
            .verbs = "detect, embed",
            .is_in_transformers = false},
};
constexpr HeadUse entity_use(std::string_view ending) {
  return {.ending = ending,
          .what = "a finder of entities by labels of one's own (GLiNER)",
          .task = "entity-extraction",
          .is_task_of_hub = false,
          .verbs = "extract, embed",
          .is_in_transformers = false};
}
constexpr std::array kEntitySpanUses = {entity_use("ForEntitySpans")};
constexpr std::array kEntityWordUses = {entity_use("ForEntityWords")};
constexpr std::array kNoneUses = {
    HeadUse{.ending = "Model", .what = "an encoder", .task = "feature-extraction", .verbs = "embed, forward"},
};

// ---- marks

constexpr std::array<std::string_view, 2> kSequenceMarks = {"classifier.weight", "pooler.dense.weight"};
constexpr std::array<std::string_view, 1> kTokenMarks = {"classifier.weight"};
constexpr std::array<std::string_view, 2> kTokenOriginalMarks = {"classifier.weight", "proj.weight"};
constexpr std::array<std::string_view, 1> kSpanMarks = {"qa_outputs.weight"};
constexpr std::array<std::string_view, 1> kMaskedLmMarks = {"lm_predictions.lm_head.dense.weight"};
constexpr std::array<std::string_view, 1> kReplacedTokenMarks = {"mask_predictions.dense.weight"};
constexpr std::array<std::string_view, 2> kEntitySpanMarks = {"prompt_rep_layer.0.weight",
                                                              "span_rep_layer.span_rep_layer.project_start.0.weight"};
constexpr std::array<std::string_view, 1> kEntityWordMarks = {"scorer.proj_token.weight"};

// ---- rows

constexpr HeadFacts kNone{
    .head = Head::kNone,
    .name = "none",
    .served_as = "embedding",
    .uses = kNoneUses,
};
constexpr HeadFacts kSequence{
    .head = Head::kSequence,
    .name = "sequence",
    .reads = HeadReads::kSequences,
    .answers = HeadAnswers::kClasses,
    .inner = HeadInner::kHidden,
    .activation = pooler_act,
    .served_as = "classifier",
    .marks = kSequenceMarks,
    .tensors = kSequenceTensors,
    .uses = kSequenceUses,
};
constexpr HeadFacts kToken{
    .head = Head::kToken,
    .name = "token",
    .reads = HeadReads::kTokens,
    .answers = HeadAnswers::kClasses,
    .served_as = "token_classifier",
    .marks = kTokenMarks,
    .tensors = kTokenTensors,
    .uses = kTokenUses,
};
constexpr HeadFacts kTokenOriginal{
    .head = Head::kTokenOriginal,
    .name = "token-original",
    .reads = HeadReads::kTokens,
    .groups = HeadGroups::kAnyRows,
    .answers = HeadAnswers::kClasses,
    .inner = HeadInner::kHidden,
    .activation = gelu,
    .served_as = "token_classifier",
    .marks = kTokenOriginalMarks,
    .tensors = kTokenOriginalTensors,
    .uses = kTokenOriginalUses,
};
constexpr HeadFacts kSpan{
    .head = Head::kSpan,
    .name = "span",
    .reads = HeadReads::kTokens,
    .answers = HeadAnswers::kEnds,
    .fixed_outputs = 2,
    .served_as = "span",
    .marks = kSpanMarks,
    .tensors = kSpanTensors,
    .uses = kSpanUses,
};
constexpr HeadFacts kMaskedLm{
    .head = Head::kMaskedLm,
    .name = "masked-lm",
    .reads = HeadReads::kTokens,
    .answers = HeadAnswers::kWords,
    .inner = HeadInner::kEmbedding,
    .activation = hidden_act,
    .served_as = "masked_lm",
    .marks = kMaskedLmMarks,
    .tensors = kMaskedLmTensors,
    .uses = kMaskedLmUses,
};
constexpr HeadFacts kReplacedToken{
    .head = Head::kReplacedToken,
    .name = "replaced-token",
    .reads = HeadReads::kTokensAndFirst,
    .answers = HeadAnswers::kReplaced,
    .fixed_outputs = 1,
    .inner = HeadInner::kHidden,
    .activation = hidden_act,
    .served_as = "rtd",
    .marks = kReplacedTokenMarks,
    .tensors = kReplacedTokenTensors,
    .uses = kReplacedTokenUses,
};
constexpr HeadFacts kEntitySpans{
    .head = Head::kEntitySpans,
    .name = "entity-spans",
    .reads = HeadReads::kLabelledWords,
    .answers = HeadAnswers::kEntities,
    .fixed_outputs = 1,
    .served_as = "entity_extractor",
    .marks = kEntitySpanMarks,
    .tensors = kEntitySpanTensors,
    .uses = kEntitySpanUses,
};
constexpr HeadFacts kEntityWords{
    .head = Head::kEntityWords,
    .name = "entity-words",
    .reads = HeadReads::kLabelledWords,
    .answers = HeadAnswers::kEntities,
    .fixed_outputs = 3,
    .served_as = "entity_extractor",
    .marks = kEntityWordMarks,
    .tensors = kEntityWordTensors,
    .uses = kEntityWordUses,
};

// A classifier's tensors stand before those of pre-training, which files keep: a published discriminator carries the
// unused head of its generator too.
constexpr std::array kAll = {&kEntitySpans, &kEntityWords,   &kTokenOriginal, &kSequence, &kToken,
                             &kSpan,        &kReplacedToken, &kMaskedLm,      &kNone};

}  // namespace

int64_t HeadFacts::outputs(const ModelConfig& config, int64_t classes) const {
  if (predicts_words()) return config.vocab_size;
  return fixed_outputs > 0 ? fixed_outputs : classes;
}

const HeadFacts& facts_of(Head head) {
  switch (head) {  // without default: a head that has no row does not compile
    case Head::kNone:
      return kNone;
    case Head::kSequence:
      return kSequence;
    case Head::kToken:
      return kToken;
    case Head::kTokenOriginal:
      return kTokenOriginal;
    case Head::kSpan:
      return kSpan;
    case Head::kMaskedLm:
      return kMaskedLm;
    case Head::kReplacedToken:
      return kReplacedToken;
    case Head::kEntitySpans:
      return kEntitySpans;
    case Head::kEntityWords:
      return kEntityWords;
  }
  throw Error(ErrorCode::kInternal, "head", "expected one of the table, got " + std::to_string(static_cast<int>(head)));
}

std::string_view to_string(Head head) {
  return facts_of(head).name;
}

std::span<const HeadFacts* const> all_heads() {
  return kAll;
}

const HeadFacts* find_head(std::string_view architecture) {
  for (const HeadFacts* head : kAll) {
    const auto names = [&](const HeadUse& use) { return use.names_head && architecture.ends_with(use.ending); };
    if (std::ranges::any_of(head->uses, names)) return head;
  }
  return nullptr;
}

const HeadUse& use_of(const HeadFacts& head, const ModelConfig& config) {
  for (const std::string& architecture : config.architectures) {
    for (const HeadUse& use : head.uses) {
      if (use.fits(config) && architecture.ends_with(use.ending)) return use;
    }
  }
  return *std::ranges::find_if(head.uses, [&](const HeadUse& use) { return use.fits(config); });
}

const TensorRow* find_head_tensor(std::string_view canonical_name) {
  for (const HeadFacts* head : kAll) {
    for (const TensorRow& row : head->tensors) {
      if (row.name == canonical_name || row.names(canonical_name)) return &row;
    }
  }
  return nullptr;
}

}  // namespace deberta
