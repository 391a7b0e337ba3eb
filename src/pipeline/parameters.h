// The parameters of tasks, as data: a row for each, with the tasks that take it, its type, range, default and meaning.
// Every front end reads them here. The program's options (options/table/) and the fields of requests
// (serve/fields.h) give a row the name that their users know; the OpenAPI document describes it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace deberta {

// kWord: one of the words of the range. kTexts: any number of texts.
enum class ParameterType { kFlag, kInteger, kNumber, kWord, kText, kTexts };

struct Parameter {
  std::string_view name;   // of the argument in the library's errors
  std::string_view tasks;  // the tasks that take it, as the program's verbs, separated by spaces
  ParameterType type;
  std::string_view default_value;  // as it is typed; "": none, or a flag that is off
  // "1..64" for numbers, "a|b" for words, a placeholder for texts; the word auto leaves it to the model.
  std::string_view range;
  // Its meaning; {name} stands for another parameter of the task, by its name in the front end.
  std::string_view text;
};

namespace parameter_rows {
using enum ParameterType;

inline constexpr Parameter kParameters[] = {
    // Long texts.
    {"max_tokens", "classify nli zero-shot ner extract choose rerank fill score embed detect analyze tokenize convert",
     kInteger, "512", "3..1048576",
     "maximum input length in tokens, special tokens included; unless it is given, the length in the model's folder "
     "(model_max_length, up to 32768) replaces the default"},
    {"max_tokens", "qa", kInteger, "384", "8..1048576",
     "maximum window length in tokens: question, part of the context, special tokens"},
    {"max_second_tokens", "rerank", kInteger, "", "1..2147483647",
     "maximum number of tokens read from a document; the rest is cut"},
    {"truncate", "nli zero-shot choose rerank fill score embed detect analyze", kWord, "right", "right|left|error",
     "what to do with a longer input: cut its end (right) or its beginning (left), or report the row as bad"},
    {"truncate", "classify", kWord, "right", "right|left|window|error",
     "what to do with a longer input: cut its end (right), cut its beginning (left), read it in overlapping windows "
     "and average their logits (of a pair, windows of the longer text, each with the whole shorter one), or report the "
     "row as bad"},
    {"truncate", "ner", kWord, "window", "window|right|left|error",
     "what to do with a longer input: read it in overlapping windows, cut its end (right), cut its beginning (left), "
     "or report the row as bad"},
    {"truncate", "extract", kWord, "window", "window|right|error",
     "what to do with a longer input: read it in overlapping windows of words, cut its end (right), or report the row "
     "as bad"},
    {"stride", "classify ner extract", kInteger, "128", "0..1048575", "tokens that consecutive windows share"},
    {"stride", "qa", kInteger, "128", "0..1048575",
     "tokens of the context that consecutive windows share (at most half a window)"},
    // Labels.
    {"top_k", "classify", kInteger, "0", "0..100000",
     "number of labels per text; 0: the best one, or all of a multi-label or regression model"},
    {"function", "classify", kWord, "auto", "auto|softmax|sigmoid|none",
     "how logits become scores; auto: by the model's problem_type; none: the scores are the logits"},
    {"function", "nli", kWord, "auto", "auto|softmax|none",
     "how logits become scores; auto: softmax; none: the scores are the logits"},
    {"function", "rerank", kWord, "auto", "auto|sigmoid|none",
     "how a logit becomes a score; auto: sigmoid, unless the model's configuration sets another; none: the scores are "
     "the logits"},
    {"window_scores", "classify", kWord, "mean", "mean|max|each",
     "how a text that is read in windows is scored; mean: by the mean of the windows' logits; max: by the window in "
     "which a class that is not benign scores highest; each: each window by itself, with its offsets"},
    {"benign_labels", "classify", kTexts, "", "LABEL",
     "the benign classes, for {window_scores} max; default: those named benign, safe, clean, ham or legit"},
    {"label_map", "nli zero-shot", kTexts, "", "NAMES",
     "the meanings of the model's classes, in order, if their names do not show them: "
     "contradiction,neutral,entailment; none: a class that is none of these; it keeps its share of the scores and its "
     "name"},
    {"labels", "zero-shot", kTexts, "", "NAMES", "candidate labels"},
    {"labels", "extract", kTexts, "", "NAMES", "labels of the entities to find"},
    {"hypothesis_template", "zero-shot", kText, "This example is {}.", "TEXT",
     "hypothesis for a label; {} is replaced by the label"},
    {"multi_label", "zero-shot", kFlag, "", "",
     "score each label independently (entailment against contradiction) instead of against the others"},
    // Entities.
    {"aggregation", "ner", kWord, "auto", "auto|none|simple|first|average|max",
     "how to group pieces into entities; none: no grouping; simple: runs of pieces, which may begin or end inside a "
     "word; first, average, max: whole words, labelled by their first piece, the mean of their pieces or the highest "
     "score; auto: as set in the model's config.json, else first"},
    {"ignore_labels", "ner", kTexts, "O", "NAMES", "labels to leave out"},
    {"threshold", "extract", kTexts, "0.5", "NUMBERS",
     "probability that a span must exceed to be an entity; LABEL=NUMBER is that of one label"},
    {"nested", "extract", kFlag, "", "", "also find entities within others"},
    {"multi_label", "extract", kFlag, "", "", "a span may have several labels"},
    {"join", "extract", kFlag, "", "", "make one entity of neighbours with the same label, as NuNER Zero wants it"},
    // Questions and choices.
    {"top_k", "qa", kInteger, "1", "1..1000", "number of answers per question"},
    {"max_answer_tokens", "qa", kInteger, "15", "1..100000", "maximum answer length in tokens"},
    {"max_question_tokens", "qa", kInteger, "64", "1..1048576", "maximum question length in tokens; the rest is cut"},
    {"align", "qa", kWord, "words", "words|tokens",
     "where answers may begin and end: at word boundaries, or at any token"},
    {"allow_no_answer", "qa", kFlag, "", "", "treat the empty answer as a candidate (SQuAD 2.0 models)"},
    {"no_answer_threshold", "qa", kNumber, "0", "-1000..1000",
     "the empty answer wins where its logit exceeds that of the best span by more than this; implies "
     "{allow_no_answer}"},
    {"form", "choose", kWord, "race", "race|plain|copa",
     "race: [CLS] context [SEP] question choice [SEP], white space normalised, question and choice at most 160 "
     "tokens; plain: the same with the texts unchanged (SWAG, AlphaNLI); copa: the question is cause or effect"},
    // Documents.
    {"top_n", "rerank", kInteger, "0", "0..1000000", "number of documents to return"},
    {"return_text", "rerank", kFlag, "", "", "include the documents' texts"},
    // Masked words, and each token masked in turn.
    {"top_k", "fill", kInteger, "0", "0..100000", "number of tokens per mask"},
    {"targets", "fill", kTexts, "", "WORDS", "score only these words"},
    {"tokens", "score", kFlag, "", "", "include the log-probability of each token"},
    // Vectors.
    {"pooling", "embed", kWord, "auto", "auto|cls|mean|max|none",
     "how to pool token vectors; auto: by the model's modules.json of sentence-transformers (Dense and Normalize "
     "included), else the mean; none: one vector per token, [CLS] and [SEP] included"},
    {"normalize", "embed", kFlag, "", "", "scale each vector to length 1"},
    {"layer", "embed", kInteger, "-1", "-1000..1000",
     "layer whose hidden states are used: 0 is the embeddings, -1 the last layer"},
    {"dimensions", "embed", kInteger, "", "1..65536",
     "number of leading values of each vector to keep; the vector is normalized after that"},
    // Replaced tokens.
    {"threshold", "detect", kNumber, "0.5", "0..1", "minimum probability at which a piece counts as replaced"},
    // Tokens and their offsets.
    {"add_special_tokens", "tokenize", kFlag, "true", "", "add [CLS] and [SEP]"},
    {"skip_special_tokens", "tokenize", kFlag, "true", "", "leave special tokens out of the decoded text"},
    {"offsets", "ner extract qa score detect tokenize", kWord, "chars", "chars|bytes|utf16",
     "unit of offsets: Unicode code points, bytes, or UTF-16 units"},
};

}  // namespace parameter_rows

using parameter_rows::kParameters;

// Whether `word` is one of the words, which are separated by spaces.
constexpr bool names_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = words.find(' ') == words.npos ? words.size() : words.find(' ');
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(end == words.size() ? end : end + 1);
  }
  return false;
}

constexpr const Parameter* find_parameter(std::string_view task, std::string_view name) {
  for (const Parameter& row : kParameters) {
    if (row.name == name && names_word(row.tasks, task)) return &row;
  }
  return nullptr;
}

// The row; a name that the task does not have fails to compile.
consteval const Parameter& parameter(std::string_view task, std::string_view name) {
  const Parameter* row = find_parameter(task, name);
  if (row == nullptr) throw "no parameter of that name";
  return *row;
}

// The text with each {name} replaced by `name_of(name)`; {} stays.
template <class NameOf>
std::string with_names(std::string_view text, NameOf name_of) {
  std::string result;
  for (size_t open = text.find('{'); open != text.npos; open = text.find('{')) {
    const std::string_view name = text.substr(open + 1, text.find('}', open) - open - 1);
    result += text.substr(0, open);
    result += name.empty() ? std::string("{}") : name_of(name);
    text.remove_prefix(open + name.size() + 2);
  }
  return result += text;
}

// Calls `take` with each word of a range, in order.
template <class Take>
constexpr void for_each_word(std::string_view range, Take take) {
  while (!range.empty()) {
    const size_t end = range.find('|') == range.npos ? range.size() : range.find('|');
    take(range.substr(0, end));
    range.remove_prefix(end == range.size() ? end : end + 1);
  }
}

}  // namespace deberta
