// The configuration of a DeBERTa of any version (model.md#configuration), read from config.json and written back to it.
// Unknown keys are kept.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/error.h"

namespace deberta {

enum class Activation {
  kGelu,  // the erf form
  kRelu,
  kSwish,
  kTanh,
  kLinear,
  kSigmoid,
  kGeluTanh,   // gelu_new, gelu_fast and the other names of the tanh form
  kQuickGelu,  // x sigmoid(1.702 x)
  kGelu10,     // the erf form, within -10 and 10
  kMish,
  kRelu6,
  kRelu2,
  kLeakyRelu,
  kLaplace,
  kOther,  // pooler only: an activation unknown to this program; a model that pools is refused
};
enum class Layout { kV1, kV2 };  // model_type "deberta" (fused in_proj) and "deberta-v2" (v2 and v3)
enum class ProblemType { kUnset, kRegression, kSingleLabel, kMultiLabel };
// How pieces become entities: each piece by itself; runs of pieces of one label; the label of a word from its first
// piece, its mean scores, or its most confident piece, then runs of words.
enum class Aggregation { kNone, kSimple, kFirst, kAverage, kMax };
// What the pooler of a sequence head reads of the last hidden states: that of the first token, or one of all tokens
// that no mask hides (kernels/pooling.h).
enum class ClassifierPooling { kFirst, kMean, kMax, kAttention };
enum class ConfigRules { kOriginal, kHf };   // which rules to read config.json by: docs/reference/transformers.md
enum class DistanceRule { kOriginal, kHf };  // distances beyond max_relative_positions (model.md#far-distances)

DEBERTA_API std::string_view to_string(Activation activation);
DEBERTA_API std::string_view to_string(Layout layout);  // the model_type
DEBERTA_API std::string_view to_string(ProblemType type);
DEBERTA_API std::string_view to_string(ClassifierPooling pooling);

// How a GLiNER model represents what may be an entity: spans of words by their ends, in two forms, or words alone, each
// as a beginning, an end and an inside.
enum class SpanMode { kMarkerV0, kMarker, kTokenLevel };
// What a word's vector is made of: one of its pieces, or all.
enum class SubtokenPooling { kFirst, kLast, kMean, kMax };

DEBERTA_API std::string_view to_string(SpanMode mode);
DEBERTA_API std::string_view to_string(SubtokenPooling pooling);

// What stands on the encoder of a GLiNER model, which finds entities by labels of the caller's own
// (model-heads.md#entities).
// The names are those of gliner_config.json, the defaults those of the library.
struct ExtractionConfig {
  SpanMode span_mode = SpanMode::kMarkerV0;
  SubtokenPooling subtoken_pooling = SubtokenPooling::kFirst;
  int64_t hidden_size = 512;  // of words and labels; the encoder's: then there is no projection
  int64_t max_width = 12;     // words of the longest span; none for kTokenLevel
  int64_t max_len = 384;      // words of the longest text, the prompt not counted
  int64_t num_rnn_layers = 1;
  bool embed_ent_token = true;     // a label's vector is that of its mark; else that of the piece after it
  int64_t class_token_index = -1;  // id of the mark; -1: marks get the ids after the tokenizer's
  int64_t vocab_size = -1;         // -1: as many as the tokenizer has, marks included
  std::string ent_token = "<<ENT>>", sep_token = "<<SEP>>";
  std::string model_name = "microsoft/deberta-v3-small";  // the base model, whose files stand in for missing ones
  std::string raw = {};                                   // the JSON text of the file

  bool has_spans() const { return span_mode != SpanMode::kTokenLevel; }
};

struct ModelConfig {
  Layout layout = Layout::kV2;
  int64_t hidden_size = 768;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t attention_head_size = 64;  // hidden_size / heads unless given
  int64_t intermediate_size = 3072;
  Activation hidden_act = Activation::kGelu;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  double layer_norm_eps = 1e-7;
  double initializer_range = 0.02;
  int64_t vocab_size = 0;    // required
  int64_t pad_token_id = 0;  // padding_idx in original files
  int64_t max_position_embeddings = 512;
  int64_t type_vocab_size = 0;
  int64_t embedding_size = 768;  // hidden_size unless given
  bool position_biased_input = true;
  bool relative_attention = false;
  int64_t max_relative_positions = 512;  // after defaulting: values < 1 mean max_position_embeddings
  int64_t position_buckets = -1;
  bool has_c2p = true;  // pos_att_type; the original's default for a missing key is "c2p"
  bool has_p2c = false;
  int64_t other_terms = 0;  // ConfigRules::kHf: further names in pos_att_type; version 1 counts them in its scale
  bool share_att_key = false;
  bool has_rel_layer_norm = false;  // norm_rel_ebd contains "layer_norm"
  int64_t conv_kernel_size = 0;
  int64_t conv_groups = 1;
  Activation conv_act = Activation::kTanh;
  int64_t pooler_hidden_size = 768;
  double pooler_dropout = 0;
  Activation pooler_hidden_act = Activation::kGelu;
  ClassifierPooling classifier_pooling = ClassifierPooling::kFirst;  // of this program alone (docs/reference/models.md)
  double cls_dropout = 0.1;
  bool talking_head = false;
  int64_t mask_decoder_passes = 2;  // masked language models without positions at the input; 0: no mask decoder
  bool ties_output = true;  // tie_word_embeddings: the word table is also a language model's output table, even if the
                            // file has another one
  bool is_causal = false;   // is_decoder: a token sees itself and those before it; transformers has no such DeBERTa

  // Forms of the trainer's ablations (docs/guides/compare-runs.md), which no published model has.
  bool has_p2p = false;              // in pos_att_type: the query's own position by the key's distance
  bool norm_first = false;           // norms before attention and feed-forward, and one after the last layer
  bool scales_by_terms = true;       // scale_by_terms false: scores are divided by sqrt(d), whatever the terms
  bool shares_layers = false;        // share_layers: one layer in training; files have a copy for each
  bool has_own_decoder = false;      // own_decoder_layers: the mask decoder has a layer for each pass, besides N
  bool has_fixed_distances = false;  // fixed_relative_table: sinusoids, which training leaves
  bool convolves_input = false;      // conv_at_input: the convolution is before the first layer, not beside it
  double feed_forward_dropout = 0;   // behind the activation of the feed-forward layer; in training alone

  ProblemType problem_type = ProblemType::kUnset;
  std::vector<std::string> labels;  // id2label in order; empty when the file names none
  int64_t num_labels = 0;           // where it names none; 0: the file does not say
  std::vector<std::string> architectures;
  std::string sentence_transformers_activation;  // "Identity", "Sigmoid", "Tanh", "Softmax", a path, or empty
  std::optional<Aggregation> aggregation;        // aggregation_strategy, of token classification
  std::optional<ExtractionConfig> extraction;    // of a GLiNER model, whose encoder the rest describes

  std::string raw;  // the JSON text of the file, unknown keys included: what is written back

  // Layers of the mask decoder besides the encoder's; in files they follow them.
  int64_t decoder_layers() const { return has_own_decoder ? mask_decoder_passes : 0; }
  // Why its language model has no mask decoder; empty: it has one, where the weights have the position table that the
  // decoder reads.
  std::string_view reason_against_mask_decoder() const {
    if (is_causal) return "is_decoder is true: a decoder of masked tokens would see what comes next";
    if (mask_decoder_passes <= 0) return "mask_decoder_passes is 0: the head reads the last layer";
    if (position_biased_input) return "position_biased_input is true: the head of this model reads the last layer";
    return {};
  }
  bool has_mask_decoder() const { return reason_against_mask_decoder().empty(); }
  // Rows of half the relative table: position_buckets when > 0, else max_relative_positions.
  int64_t span() const { return position_buckets > 0 ? position_buckets : max_relative_positions; }
  // The terms of model.md#disentangled-attention: c2c plus those of c2p, p2c and p2p that are named, even without
  // relative_attention.
  int64_t attention_terms() const {
    if (!scales_by_terms) return 1;
    return 1 + (has_c2p ? 1 : 0) + (has_p2c ? 1 : 0) + (has_p2p ? 1 : 0) + (layout == Layout::kV1 ? other_terms : 0);
  }
  // By which the sum of the terms is multiplied before the softmax.
  DEBERTA_API double attention_scale() const;
};

// Reads config.json as Python's json module does. Only a value that is used and invalid is a problem; all problems are
// reported at once. Throws kConfig (wrong), kJson, kFileNotFound. Warnings go to the sink
// (deberta/library.h).
DEBERTA_API ModelConfig load_model_config(const std::string& path, ConfigRules rules = ConfigRules::kOriginal);

}  // namespace deberta
