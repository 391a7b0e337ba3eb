// What the rows of all sections share: groups of verbs, parameters of tasks as options, and the check that the verbs
// of a row exist.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "options/options.h"
#include "options/table/verbs.h"
#include "pipeline/parameters.h"

namespace deberta::option_rows {

using enum OptionType;

inline constexpr std::string_view kTextVerbs =
    "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze tokenize";
// Verbs that answer many files at once.
inline constexpr std::string_view kFileVerbs =
    "classify nli zero-shot ner extract qa choose rerank fill score embed detect tokenize";
inline constexpr std::string_view kReadingVerbs =
    "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze tokenize convert";
inline constexpr std::string_view kEncodingVerbs =
    "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval tokenize convert";
// Verbs that read with either tokenizer: a GLiNER model has one.
inline constexpr std::string_view kTokenizerVerbs =
    "classify nli zero-shot ner qa choose rerank fill score embed detect analyze eval tokenize convert forward";
inline constexpr std::string_view kModelVerbs =
    "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval forward serve";
// Verbs that open weights.
inline constexpr std::string_view kWeightVerbs =
    "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval forward inspect check "
    "convert bench info serve";
// Verbs that print rows or tables in the formats of answers.
inline constexpr std::string_view kTableVerbs =
    "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval tokenize inspect check "
    "convert bench";

// The names in the table of implementations.
inline constexpr std::string_view kKernelNames = "auto|check"
#define DEBERTA_IMPLEMENTATION(level, name, ...) "|" name
#include "kernels/implementations.inc"
#undef DEBERTA_IMPLEMENTATION
    ;

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

// A parameter of tasks as an option with its own name; help shows `more` behind the row's text.
consteval OptionRow of(const Parameter& row, std::string_view name, char short_name, std::string_view more = {}) {
  return {name, short_name, option_type(row.type), row.default_value, row.range, row.tasks, row.text, &row, more};
}

// The same, with one text per option, as a text may have a comma.
consteval OptionRow several(OptionRow row) {
  row.type = kFiles;
  return row;
}

// A parameter as an option of `eval`, with its own default and meaning there.
consteval OptionRow in_eval(const Parameter& row, std::string_view name, std::string_view default_value,
                            std::string_view help) {
  return {name, 0, option_type(row.type), default_value, row.range, "eval", help};
}

// A number as it is typed, in GiB or MiB where it is a multiple of one: "512", "64MiB".
class TypedNumber {
 public:
  explicit constexpr TypedNumber(uint64_t number) {
    constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;
    const bool is_sized = number > 0 && number % kMiB == 0, is_large = number > 0 && number % kGiB == 0;
    if (is_sized) {
      for (const char letter : {'B', 'i', is_large ? 'G' : 'M'}) text_[--begin_] = letter;
    }
    uint64_t left = is_large ? number / kGiB : is_sized ? number / kMiB : number;
    do {
      text_[--begin_] = static_cast<char>('0' + left % 10);
      left /= 10;
    } while (left > 0);
  }
  constexpr std::string_view text() const { return std::string_view(text_.data(), text_.size()).substr(begin_); }

 private:
  std::array<char, 24> text_{};
  size_t begin_ = 24;
};

template <uint64_t kNumber>
inline constexpr TypedNumber kTypedNumber{kNumber};

// A default that the library has, as the default of an option.
template <uint64_t kNumber>
inline constexpr std::string_view kTyped = kTypedNumber<kNumber>.text();

// Whether each of the words, separated by spaces, is a verb.
constexpr bool are_verbs(std::string_view words) {
  while (!words.empty() && words != "*") {
    const std::string_view word = words.substr(0, words.find(' '));
    if (std::ranges::find(kVerbs, word, &VerbRow::name) == kVerbs.end()) return false;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return true;
}

// Whether all rows name known verbs.
constexpr bool are_rows(std::span<const OptionRow> rows) {
  return std::ranges::all_of(rows, [](const OptionRow& row) { return are_verbs(row.verbs); });
}

// The rows of each section, a file each in this folder; the table (options_table.cpp) sets their headings.
std::span<const OptionRow> model_rows();
std::span<const OptionRow> server_rows();
std::span<const OptionRow> limits_rows();
std::span<const OptionRow> input_rows();
std::span<const OptionRow> training_rows();
std::span<const OptionRow> replaced_tokens_rows();
std::span<const OptionRow> answer_rows();
std::span<const OptionRow> figure_rows();
std::span<const OptionRow> output_rows();
std::span<const OptionRow> compute_rows();
std::span<const OptionRow> general_rows();

}  // namespace deberta::option_rows
