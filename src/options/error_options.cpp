// Two tables, of options and of phrases, translate an error's arguments; everything else passes unchanged.
#include "options/error_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/problem_text.h"
#include "options/options.h"
#include "pipeline/parameters.h"

namespace deberta {
namespace {

// Options whose names differ from their arguments', beside those of parameters of tasks, whose rows say it; all others
// match.
struct OptionName {
  std::string_view argument;
  std::string_view option;
};
constexpr std::array kNames = {OptionName{"model", "-m"},
                               OptionName{"models", "--model"},
                               OptionName{"max_requests", "--model-limit"},
                               OptionName{"max_queue_tokens", "--model-limit"},
                               OptionName{"has_admin", "--admin"},
                               OptionName{"has_explorer", "--explorer"},
                               OptionName{"added_tokens", "--add-tokens"},
                               OptionName{"fields", "--input-field"},
                               OptionName{"columns", "--input-field"},
                               OptionName{"form", "--input-format"},
                               OptionName{"kept", "--keep"},
                               OptionName{"false_positive_rates", "--false-positive-rate"}};

// What the program does by other means than an option named for the argument; {} stands for the value.
struct Phrase {
  std::string_view argument;
  std::string_view words;
};
constexpr std::array kPhrases = {
    Phrase{"parse_special", "--special-text literal"},
    Phrase{"function", " with --activation"},
    Phrase{"calibrate", " with `deberta convert -m DIR -o DIR2 --dtype int8 --calibration-data FILE`"},
    Phrase{"adapter", ": convert -m FOLDER_OF_THAT_MODEL --adapter {} -o NEW_FOLDER"},
    Phrase{"name", ": -m NAME=DIR"},
    Phrase{"api_key", "DEBERTA_API_KEY"},
    Phrase{"classify()", "`deberta classify --pair`"},
    Phrase{"encode()", "`deberta tokenize`"},
    Phrase{"extract()", "`deberta extract`"},
};

std::string option_of(std::string_view argument) {
  for (const OptionName& row : kNames) {
    if (row.argument == argument) return std::string(row.option);
  }
  const auto table = option_table();
  for (const OptionRow& row : table) {
    if (row.parameter != nullptr && row.parameter->name == argument) return fmt::format("--{}", row.name);
  }
  std::string name(argument);
  std::replace(name.begin(), name.end(), '_', '-');
  const bool is_option =
      std::any_of(table.begin(), table.end(), [&](const OptionRow& row) { return row.name == name; });
  return is_option ? "--" + name : std::string(argument);
}

std::string words_of(const Remedy& remedy) {
  constexpr std::string_view kSlot = "{}";
  for (const Phrase& row : kPhrases) {
    if (row.argument != remedy.argument) continue;
    std::string words(row.words);
    const size_t at = words.find(kSlot);
    return at == words.npos ? words : words.replace(at, kSlot.size(), remedy.value);
  }
  if (remedy.text.find(kSlot) == remedy.text.npos) return "";
  const std::string option = option_of(remedy.argument);
  return remedy.value.empty() ? option : option + " " + remedy.value;
}

}  // namespace

Error with_options(const Error& error) {
  std::vector<Problem> problems;
  for (const Problem& problem : error.problems())
    problems.push_back({.where = place_text(problem, words_of), .message = message_text(problem, words_of)});
  return {error.code(), std::move(problems)};
}

}  // namespace deberta
