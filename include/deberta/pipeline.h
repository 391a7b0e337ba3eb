// One function per verb: texts in, answers out. Scores are single precision; offsets are in code points and in bytes.
// Texts are packed together; an answer is bitwise the same alone and in any batch. All functions may be called from
// several threads with one pipeline.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/answer.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// One module after the pooling of a sentence-transformers folder. kTruncate: the first `outputs` values are kept.
struct SentenceLayer {
  enum class Kind { kNormalize, kDense, kLayerNorm, kTruncate };
  Kind kind = Kind::kNormalize;
  std::vector<float> weight;  // Dense: [outputs, inputs]; LayerNorm: [outputs]
  std::vector<float> bias;    // [outputs], or empty
  size_t outputs = 0;
  Activation activation = Activation::kLinear;
  bool adds_input = false;      // Dense: the input is added after the activation ...
  std::vector<float> residual;  // ... times this [outputs, inputs] if the widths differ
};

// How a sentence-transformers folder turns a text into a vector (its modules.json), as far as it is specified.
struct SentenceModules {
  std::vector<Pooling> poolings;  // concatenated in this order; empty: not specified
  std::vector<SentenceLayer> layers;
  size_t max_tokens = 0;  // 0: not specified
  std::string prompt;     // put before every text, and pooled with it; most folders have none
  bool pools_prompt = true;
  std::string refusal;  // why embed() cannot follow it; empty: it can
};

// The tokens that a GLiNER model puts before each label and before the text.
struct EntityMarks {
  int32_t label = -1;  // <<ENT>>
  int32_t text = -1;   // <<SEP>>
};

// A model directory opened for use: configuration, tokenizer, weights.
struct Pipeline {
  ModelConfig config;
  Tokenizer tokenizer;
  Model model;
  SentenceModules sentence = {};
  EntityMarks marks = {};  // of a GLiNER model, whose tokenizer is the fast one
};

// Throws what the parts throw, and kFileNotFound when `path` is not a directory. For other names: find_model() in
// deberta/find_model.h.
DEBERTA_API Pipeline open_pipeline(const std::string& path, const ModelOptions& options = {},
                                   const OpenOptions& open_options = {});

// The options by which a model computes what transformers does, where that differs from the authors' code. For qa()
// there is QuestionOptions::as_transformers as well.
DEBERTA_API ModelOptions transformers_options();

// A label of entities.
struct EntityLabel {
  std::string name;                      // as answers have it
  std::string text;                      // what the model reads: the description, or the name
  std::optional<double> threshold = {};  // in place of those of ExtractOptions
};

// A label that the model reads as this description, or, without one, as its name.
DEBERTA_API EntityLabel entity_label(std::string name, std::string_view description = {});

// One input of a task, valid UTF-8. The characters belong to the caller.
struct TextInput {
  std::string_view text;                      // or the question of a context, the query of documents
  std::optional<std::string_view> pair = {};  // the second text, the context of a question, the question of choices
  std::span<const std::string> items = {};    // documents of a query, choices
  std::span<const Encoding> encodings = {};   // by encode_input() with the same rules; saves encoding it again
  std::optional<std::span<const EntityLabel>> labels = {};  // of extract(), in place of its options'
};

// What happens to a text above encode.max_tokens.
enum class LongText {
  kCut,     // as encode.truncate says; answers report how many tokens were cut
  kRefuse,  // kTextTooLong
  kWindow,  // reads it in windows and merges their results (classify, ner, qa, extract); others throw kUsage
};

// How texts become packs. Every function throws kTextTooLong, kInput (text that is not valid UTF-8 or has no token) and
// what the model throws.
struct EncodingRules {
  EncodeOptions encode;
  LongText long_text = LongText::kCut;
  size_t stride = 128;          // tokens shared with the previous window; throws kUsage if they leave no room
  size_t batch_tokens = 16000;  // tokens of one pack; a longer text gets a pack of its own
  std::optional<std::string> prompt = {};  // put before each text; none: embed() uses the folder's, others use none
};

// How a context, a question and a choice become a sequence.
enum class ChoiceForm {
  kRace,   // [CLS] context [SEP] question choice [SEP]; white space runs are one space; question and choice 160 pieces
  kPlain,  // the same without these two rules (SWAG); without a question the choice alone (AlphaNLI)
  kCopa,   // the question is "cause": [CLS] choice [SEP] context [SEP], or "effect": [CLS] context [SEP] choice [SEP]
};

// Which sequences an input becomes.
enum class SequenceForm {
  kText,        // the text or the pair: one sequence, uncut if windows were requested
  kHypotheses,  // the text with each hypothesis
  kDocuments,   // the text with each of the items
  kChoices,     // context and question with each of the items
  kContext,     // the question with each window of its context
  kTexts,       // the text, its pair and each of the items, each by itself
};

// How an input becomes the sequences that a task runs for it: `encoding` alone for tasks that run one, else what
// sequence_rules() of the task's options gives.
struct SequenceRules {
  EncodingRules encoding;
  SequenceForm form = SequenceForm::kText;
  std::vector<std::string> hypotheses = {};  // kHypotheses only
  ChoiceForm choice = ChoiceForm::kRace;     // kChoices only
  size_t max_question_tokens = 0;            // kContext only
  bool as_transformers = false;              // kContext only: QuestionOptions
};

// The sequences that the functions below run for an input, for a thread that encodes while another one computes. Throws
// as those functions do.
DEBERTA_API std::vector<Encoding> encode_input(const Tokenizer& tokenizer, const TextInput& input,
                                               const SequenceRules& rules);

// What becomes of the windows of a text.
enum class WindowScores {
  kMean,  // the scores of their mean logits
  kMax,   // those of the window in which a class that is not benign scores highest: what a guard asks for
  kEach,  // as kMean; the answer has those of each window too
};

struct SequenceOptions {
  EncodingRules rules;
  std::optional<ScoreFunction> function;  // none: as the configuration says
  size_t top_k = 0;                       // 0: the best label, or all of a multi-label or regression model
  WindowScores window_scores = WindowScores::kMean;
  // For kMax: the classes that are no finding; none: those that the model's configuration names benign, safe, clean,
  // ham or legit. Throws kUsage for a name that is no class, and where none or all of the classes are benign.
  std::vector<std::string> benign_labels = {};
};

// Logits of windows are averaged. Throws kTask when the checkpoint has no sequence head.
DEBERTA_API std::vector<SequenceAnswer> classify(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                                 const SequenceOptions& options = {});

struct EntailmentOptions {
  EncodingRules rules;
  std::vector<std::string> label_map;  // entailment, neutral, contradiction in the model's order, instead of its labels
  ScoreFunction function = ScoreFunction::kSoftmax;  // kNone: the scores are logits
};

// Whether the first text of each pair entails the second. Throws as classify, kTask when no label says entailment,
// kInput for an input without a pair.
DEBERTA_API std::vector<EntailmentAnswer> nli(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                              const EntailmentOptions& options = {});

// Turns candidate labels into hypotheses for an entailment model.
struct ZeroShotOptions {
  EncodingRules rules;              // only the text is cut, never the hypothesis
  std::vector<std::string> labels;  // the candidates
  std::string hypothesis_template = "This example is {}.";
  bool is_multi_label = false;         // each label by itself, entailment against contradiction; also for one candidate
  std::vector<std::string> label_map;  // as EntailmentOptions

  DEBERTA_API SequenceRules sequence_rules() const;  // throws kUsage as zero_shot()
};

// Throws as nli, kUsage without candidates or for a template without {}, with two of them, or with {{ or }}; kTask for
// labels by themselves when the model has no class for contradiction.
DEBERTA_API std::vector<ZeroShotAnswer> zero_shot(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                                  const ZeroShotOptions& options);

struct RankOptions {
  EncodingRules rules;
  std::optional<ScoreFunction> function;  // none: sigmoid, or as the configuration says
  size_t top_n = 0;                       // 0: all

  DEBERTA_API SequenceRules sequence_rules() const;
};

// Scores of the documents `items` for the query `text`, by a cross-encoder or reward model. Throws kTask unless the
// checkpoint has a sequence head with one class, kInput for an input without documents.
DEBERTA_API std::vector<RankAnswer> rerank(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                           const RankOptions& options = {});

struct ChoiceOptions {
  EncodingRules rules;
  ChoiceForm form = ChoiceForm::kRace;

  DEBERTA_API SequenceRules sequence_rules() const;
};

// Which of the choices `items` fits the context `text` and the question `pair` (if any). A head with one class gives
// one logit per choice; with two classes it is the logit of class 1 minus that of class 0. Throws kTask for another
// head, kInput for fewer than two choices.
DEBERTA_API std::vector<ChoiceAnswer> choose(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                             const ChoiceOptions& options = {});

struct QuestionOptions {
  EncodingRules rules;  // max_tokens of a window, question and context; stride
  size_t top_k = 1;
  size_t max_answer_tokens = 15;
  size_t max_question_tokens = 64;
  bool aligns_to_words = true;          // answers begin and end with white-space-separated words
  bool merges_equal = true;             // answers with the same words, in any case, are one, their scores added
  bool allows_none = false;             // "no answer" is a candidate
  std::optional<float> null_threshold;  // the answer exactly when its logit exceeds the best span's by more than this
  bool as_transformers = false;         // as its pipeline: each window's probabilities sum to 1, words are cut by the
                                        // edges of windows, equal answers are merged only after equal spaces

  DEBERTA_API SequenceRules sequence_rules() const;
};

// The stride that transformers' question-answering pipeline has unless it is told another.
constexpr size_t transformers_stride(size_t max_tokens) {
  return max_tokens / 2 < 128 ? max_tokens / 2 : 128;
}

// Where the context `pair` answers the question `text`; as transformers, kInput for a stride that leaves a window no
// token of its own. Throws kTask when the checkpoint has no span head, kInput for
// an input without a context.
DEBERTA_API std::vector<QuestionAnswer> qa(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                           const QuestionOptions& options = {});

struct TokenOptions {
  EncodingRules rules;
  EntityRules entities;
  std::vector<std::string> label_map = {};  // names of the classes in the model's order, instead of its labels
};

// How ner() groups pieces with these rules and a model of this configuration.
DEBERTA_API Aggregation aggregation_of(const ModelConfig& config, const EntityRules& rules);

// For both token heads, the original one with a projection and the plain one. Throws kTask if there is neither, and for
// a label_map of another size.
DEBERTA_API std::vector<TokenAnswer> ner(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                         const TokenOptions& options = {});

struct LabelThreshold {
  std::string label;  // by its name
  double threshold = 0.5;
};

struct ExtractOptions {
  // kCut: a text ends with the last word that fits, whatever encode.truncate says; kWindow: windows share `stride`
  // tokens, and as many words as the longest span has less one, but at most three quarters of a window.
  EncodingRules rules = {.encode = {}, .long_text = LongText::kWindow};
  std::vector<EntityLabel> labels;              // of those that read the same the first is taken
  double threshold = 0.5;                       // a span is an entity if its probability is above it
  std::vector<LabelThreshold> thresholds = {};  // of labels that have none of their own, in its place
  bool is_nested = false;                       // entities may lie within others
  bool is_multi_label = false;                  // a span may have several labels
  bool joins_neighbours = false;  // of entities in their order: those of one label with at most a character between
  // Spans above the threshold that are kept at once: those of a window that is read, of all other texts their entities,
  // or, of a text in windows, its spans.
  size_t most_candidates = SIZE_MAX;
};

// Entities by labels of the caller's own, with a GLiNER model. Each text is read behind its labels; of entities that
// overlap those with the higher scores stand, whatever window they are from. Throws kTask for another model,
// kTextTooLong for labels that leave no room for a text, kInput for a threshold that leaves too many candidates,
// kNotFinite.
DEBERTA_API std::vector<TokenAnswer> extract(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                             const ExtractOptions& options);

struct FillOptions {
  EncodingRules rules;
  size_t top_k = 5;
  std::vector<int32_t> targets;  // only these ids; from target_ids()
};

// Single tokens for words: the piece with the word-start mark, else as written; as transformers, the other way round.
// Throws kInput for a word of several pieces.
DEBERTA_API std::vector<int32_t> target_ids(const Tokenizer& tokenizer, const std::vector<std::string>& words,
                                            bool as_transformers = false);

// Throws kTask when the checkpoint has no language-model head or the tokenizer no mask, kInput for a text without a
// mask (in its first max_tokens tokens).
DEBERTA_API std::vector<FillAnswer> fill(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                         const FillOptions& options = {});

// Masks each token of a text in turn. Throws as fill, except for the missing mask.
DEBERTA_API std::vector<TextScoreAnswer> score_text(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                                    const EncodingRules& rules = {});

struct EmbeddingOptions {
  EncodingRules rules;
  bool pools = true;               // false: a vector for each token
  std::optional<Pooling> pooling;  // none: as the folder specifies (Pipeline::sentence), else the mean
  bool normalizes = false;         // at the end, whatever the folder specifies
  int64_t layer = -1;              // 0 .. N, or from the end
};

// Values of each vector.
DEBERTA_API size_t embedding_columns(const Pipeline& pipeline, const EmbeddingOptions& options = {});

// Throws kInput for a layer that the model does not have, kUnsupported for modules of the folder that are not
// supported.
DEBERTA_API std::vector<EmbeddingAnswer> embed(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                               const EmbeddingOptions& options = {});

struct SimilarityOptions {
  EmbeddingOptions embedding;  // with pools

  DEBERTA_API SequenceRules sequence_rules() const;
};

// Cosines of the vector of a text with those of its pair, or of its items in their order. Throws as embed, kInput for
// an input with nothing to compare, kUsage without pooling.
DEBERTA_API std::vector<SimilarityAnswer> similarity(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                                     const SimilarityOptions& options = {});

// Throws kTask when the checkpoint has no head for replaced tokens.
DEBERTA_API std::vector<ReplacedAnswer> detect(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                               const EncodingRules& rules = {});

}  // namespace deberta
