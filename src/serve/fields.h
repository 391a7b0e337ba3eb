// The fields of requests that are parameters of tasks: for each dialect the names that its clients know, and the rows
// of pipeline/parameters.h that they name. Kinds, ranges, words, defaults and descriptions are those of the rows; a
// field has its own range or default where the dialect's clients rely on another. Readers are in body.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/parameters.h"

namespace deberta::serve {

// A flag of a dialect that stands for a word of its parameter.
struct FlagWords {
  std::string_view if_true = {}, if_false = {};  // empty: as without the field
};

struct Field {
  std::string_view name;  // in a body
  const Parameter& row;
  // Where the dialect differs; empty: as in the row.
  std::string_view own_range = {}, own_default = {};
  FlagWords means = {};  // of a flag that stands for words
  // own_text: for a field that is only a part of its parameter; empty: the row's text. `more` follows either.
  std::string_view own_text = {}, more = {};
  std::string_view schema = {};  // its words' own schema in the OpenAPI document

  constexpr ParameterType type() const { return means.if_true.empty() ? row.type : ParameterType::kFlag; }
  constexpr std::string_view range() const { return own_range.empty() ? row.range : own_range; }
  constexpr std::string_view default_value() const { return own_default.empty() ? row.default_value : own_default; }
  constexpr bool is_on() const { return default_value() == "true"; }  // the value of an absent flag
  // For whole numbers.
  constexpr int64_t low() const { return number_at(0); }
  constexpr int64_t high() const { return number_at(range().find("..") + 2); }
  constexpr int64_t default_number() const { return whole(default_value()); }

 private:
  static constexpr int64_t whole(std::string_view digits) {
    if (digits.starts_with('-')) return -whole(digits.substr(1));
    int64_t number = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') break;
      number = 10 * number + (c - '0');
    }
    return number;
  }
  constexpr int64_t number_at(size_t at) const { return whole(range().substr(at)); }
};

// The words that a body may have: a request for auto leaves the field out.
inline std::vector<std::string_view> words_of(const Field& field) {
  std::vector<std::string_view> words;
  for_each_word(field.range(), [&](std::string_view word) {
    if (word != "auto") words.push_back(word);
  });
  return words;
}

// Whether the words of `part` are words of the row.
constexpr bool has_words(const Parameter& row, std::string_view part) {
  bool has_all = true;
  for_each_word(part, [&](std::string_view word) {
    bool is_there = false;
    for_each_word(row.range, [&](std::string_view row_word) { is_there |= row_word == word; });
    has_all &= is_there;
  });
  return has_all;
}

// The number of words, but for auto: a request for auto leaves the field out.
constexpr size_t count_words(std::string_view range) {
  size_t count = 0;
  for_each_word(range, [&](std::string_view word) { count += word != "auto"; });
  return count;
}

// Whether a field fits its row: its words are words of the row, and it has a text of its own where it is a part of the
// parameter, and only there.
constexpr bool fits(const Field& field) {
  if (field.row.type != ParameterType::kWord) return field.own_text.empty() && field.means.if_true.empty();
  if (!field.means.if_true.empty())
    return has_words(field.row, field.means.if_true) && has_words(field.row, field.means.if_false) &&
           !field.own_text.empty();
  const bool is_part = count_words(field.range()) < count_words(field.row.range);
  return has_words(field.row, field.range()) && field.own_text.empty() != is_part;
}

// The field; one that does not fit its row does not compile.
consteval Field fitting(const Field& field) {
  if (!fits(field)) throw "words of its own";
  return field;
}
// A field with the name of its parameter.
consteval Field same(const Parameter& row) {
  return fitting({.name = row.name, .row = row});
}

namespace field {

// ---- several dialects

inline constexpr Field kTruncate = fitting({.name = "truncate",
                                            .row = parameter("classify", "truncate"),
                                            .means = {"right", "error"},
                                            .own_text = "whether a text that is too long is cut, or refused"});
inline constexpr Field kTruncationDirection = fitting({.name = "truncation_direction",
                                                       .row = parameter("classify", "truncate"),
                                                       .own_range = "left|right",
                                                       .own_text = "the end at which a text that is too long is cut",
                                                       .schema = "TruncationDirection"});
inline constexpr Field kRawScores = fitting({.name = "raw_scores",
                                             .row = parameter("classify", "function"),
                                             .means = {.if_true = "none"},
                                             .own_text = "whether the scores are the logits"});
inline constexpr Field kWindowScores =
    fitting({.name = "window_scores",
             .row = parameter("classify", "window_scores"),
             .more = "; where it is given, texts that are too long are read in windows",
             .schema = "WindowScores"});
inline constexpr Field kBenignLabels = same(parameter("classify", "benign_labels"));
inline constexpr Field kStride =
    fitting({.name = "stride", .row = parameter("classify", "stride"), .more = "; with window_scores"});
inline constexpr Field kOffsets = fitting({.name = "offsets",
                                           .row = parameter("ner", "offsets"),
                                           .more = "; without it code points",
                                           .schema = "OffsetUnit"});
inline constexpr Field kNormalize =
    fitting({.name = "normalize", .row = parameter("embed", "normalize"), .own_default = "true"});
inline constexpr Field kDimensions = same(parameter("embed", "dimensions"));

// ---- text-embeddings-inference

inline constexpr Field kReturnText = same(parameter("rerank", "return_text"));
inline constexpr Field kAddSpecialTokens = same(parameter("tokenize", "add_special_tokens"));
inline constexpr Field kSkipSpecialTokens = same(parameter("tokenize", "skip_special_tokens"));

// ---- Cohere, Jina

inline constexpr Field kTopN =
    fitting({.name = "top_n", .row = parameter("rerank", "top_n"), .own_range = "1..2147483647"});
inline constexpr Field kMaxTokensPerDoc =
    fitting({.name = "max_tokens_per_doc", .row = parameter("rerank", "max_second_tokens")});
inline constexpr Field kReturnDocuments =
    fitting({.name = "return_documents", .row = parameter("rerank", "return_text")});

// ---- vLLM

inline constexpr Field kUseActivation = fitting({.name = "use_activation",
                                                 .row = parameter("classify", "function"),
                                                 .own_default = "true",
                                                 .means = {"auto", "none"},
                                                 .own_text = "whether the scores are probabilities, or the logits"});
inline constexpr Field kTruncationSide = fitting({.name = "truncation_side",
                                                  .row = parameter("classify", "truncate"),
                                                  .own_range = "left|right",
                                                  .own_text = "the end at which a text that is too long is cut"});

// ---- the hub

inline constexpr Field kTopLabels =
    fitting({.name = "top_k", .row = parameter("classify", "top_k"), .own_range = "1..2147483647"});
inline constexpr Field kFunctionToApply = fitting(
    {.name = "function_to_apply", .row = parameter("classify", "function"), .own_range = "sigmoid|softmax|none"});
inline constexpr Field kAggregationStrategy =
    fitting({.name = "aggregation_strategy", .row = parameter("ner", "aggregation")});
inline constexpr Field kIgnoreLabels = same(parameter("ner", "ignore_labels"));
inline constexpr Field kMaxSeqLen = fitting({.name = "max_seq_len", .row = parameter("qa", "max_tokens")});
inline constexpr Field kDocStride =
    fitting({.name = "doc_stride", .row = parameter("qa", "stride"), .own_range = "1..1048575"});
inline constexpr Field kTopAnswers = same(parameter("qa", "top_k"));
inline constexpr Field kMaxAnswerLen = fitting({.name = "max_answer_len", .row = parameter("qa", "max_answer_tokens")});
inline constexpr Field kMaxQuestionLen =
    fitting({.name = "max_question_len", .row = parameter("qa", "max_question_tokens")});
inline constexpr Field kHandleImpossibleAnswer =
    fitting({.name = "handle_impossible_answer", .row = parameter("qa", "allow_no_answer")});
inline constexpr Field kAlignToWords = fitting({.name = "align_to_words",
                                                .row = parameter("qa", "align"),
                                                .own_default = "true",
                                                .means = {"words", "tokens"},
                                                .own_text = "whether answers begin and end at word boundaries"});
inline constexpr Field kTopTokens =
    fitting({.name = "top_k", .row = parameter("fill", "top_k"), .own_range = "1..1000", .own_default = "5"});
inline constexpr Field kTopPredictions =
    fitting({.name = "top_k", .row = parameter("fill", "top_k"), .own_range = "1..100", .own_default = "5"});
inline constexpr Field kTargets = same(parameter("fill", "targets"));
inline constexpr Field kCandidateLabels =
    fitting({.name = "candidate_labels", .row = parameter("zero-shot", "labels")});
inline constexpr Field kHypothesisTemplate = same(parameter("zero-shot", "hypothesis_template"));
inline constexpr Field kMultiLabel = same(parameter("zero-shot", "multi_label"));
inline constexpr Field kThreshold = same(parameter("detect", "threshold"));
inline constexpr Field kTokens = same(parameter("score", "tokens"));

// ---- GLiNER

inline constexpr Field kMultiLabelSpans = same(parameter("extract", "multi_label"));
inline constexpr Field kJoin = same(parameter("extract", "join"));

// ---- fields of the protocols beside the parameters of tasks

inline constexpr Parameter kProtocol[] = {
    {"model", "", ParameterType::kText, "", "NAME", "the name of a model, where several are served"},
    {"user", "", ParameterType::kText, "", "NAME", "accepted and ignored"},
    {"truncate_prompt_tokens", "", ParameterType::kInteger, "", "-1..1048576",
     "tokens, special ones included, at which a longer text is cut; -1: the most that the model reads; without it such "
     "a text is refused"},
    {"encoding_format", "", ParameterType::kWord, "float", "float|base64",
     "numbers, or the little-endian floats of a vector in base64"},
    {"shape", "", ParameterType::kWord, "hub", "hub|pipeline",
     "the form of the answer, where that of the hub and that of the transformers pipelines differ"},
    {"threshold", "", ParameterType::kNumber, "0.5", "0..1", "probability that a span must exceed to be an entity"},
    {"flat_ner", "", ParameterType::kFlag, "true", "", "entities do not overlap; false: one may lie within another"},
    {"preset", "", ParameterType::kWord, "", "pii",
     "a set of labels, beside those that are given; pii: kinds of personal data, named as presidio names them (PERSON, "
     "EMAIL_ADDRESS, ...)"},
    {"redact", "", ParameterType::kFlag, "", "",
     "also answer with the text that has a placeholder in place of each entity, such as [PERSON_1], and with what each "
     "placeholder stands for"},
    {"chunk_length", "", ParameterType::kInteger, "384", "1..1048576", "code points of each chunk of the text"},
    {"overlap", "", ParameterType::kInteger, "128", "0..1048575",
     "code points that consecutive chunks share; less than chunk_length, of which it is a third at most by default"},
    {"ready", "", ParameterType::kFlag, "", "", "only the models that take requests"},
    {"force", "", ParameterType::kFlag, "", "", "also a model with another head or other labels"},
    {"level", "", ParameterType::kWord, "", "info|warning|error", "which requests are logged"},
    {"words", "", ParameterType::kTexts, "", "WORDS",
     "words of any number of pieces, which are scored at the masks in every order"},
    {"generator", "", ParameterType::kText, "", "NAME",
     "the name of the model that guesses the masked pieces; without it the first that reads the same pieces"},
    {"share", "", ParameterType::kNumber, "0.15", "0..1", "fraction of the pieces to mask; at least one is masked"},
    {"seed", "", ParameterType::kInteger, "0", "0..1000000000000",
     "which pieces are masked, and what the generator draws"},
    {"binary_data_size", "", ParameterType::kInteger, "", "0..9223372036854775807",
     "bytes of the tensor behind the JSON"},
    {"binary_data_output", "", ParameterType::kFlag, "", "", "whether the answer's tensor is bytes behind its JSON"},
    {"binary_data", "", ParameterType::kFlag, "", "", "whether this tensor is bytes behind the answer's JSON"},
};

consteval Field of_protocol(std::string_view name) {
  for (const Parameter& row : kProtocol) {
    if (row.name == name) return same(row);
  }
  throw "no field of that name";
}
inline constexpr Field kModel = of_protocol("model");
inline constexpr Field kUser = of_protocol("user");
inline constexpr Field kTruncatePromptTokens = of_protocol("truncate_prompt_tokens");
inline constexpr Field kEncodingFormat = of_protocol("encoding_format");
inline constexpr Field kShape = of_protocol("shape");
inline constexpr Field kSpanThreshold = of_protocol("threshold");
inline constexpr Field kFlatNer = of_protocol("flat_ner");
inline constexpr Field kFlatNerOfNemo = fitting({.name = "flat_ner", .row = kFlatNer.row, .own_default = "false"});
inline constexpr Field kPreset = of_protocol("preset");
inline constexpr Field kRedact = of_protocol("redact");
inline constexpr Field kReady = of_protocol("ready");
inline constexpr Field kChunkLength = of_protocol("chunk_length");
inline constexpr Field kOverlap = of_protocol("overlap");
inline constexpr Field kForce = of_protocol("force");
inline constexpr Field kLevel = of_protocol("level");
inline constexpr Field kWords = of_protocol("words");
inline constexpr Field kGenerator = of_protocol("generator");
inline constexpr Field kShare = of_protocol("share");
inline constexpr Field kSeed = of_protocol("seed");
inline constexpr Field kBinaryDataSize = of_protocol("binary_data_size");
inline constexpr Field kBinaryDataOutput = of_protocol("binary_data_output");
inline constexpr Field kBinaryData = of_protocol("binary_data");

}  // namespace field

}  // namespace deberta::serve
