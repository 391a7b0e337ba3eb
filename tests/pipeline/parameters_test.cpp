// The table of parameters: whole rows, and words that have a meaning.
#include "pipeline/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/aggregation.h"
#include "pipeline/parameter_words.h"

namespace deberta::parameters_test {
namespace {

std::vector<std::string> words_of(std::string_view range) {
  std::vector<std::string> words;
  for_each_word(range, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

double number_of(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  EXPECT_EQ(read.ptr, text.data() + text.size()) << text;
  return number;
}

TEST(Parameters, EveryRowSaysWhatItIsAndWhoTakesIt) {
  std::set<std::pair<std::string, std::string>> names;
  for (const Parameter& row : kParameters) {
    EXPECT_FALSE(row.text.empty()) << row.name;
    EXPECT_FALSE(row.tasks.empty()) << row.name;
    EXPECT_EQ(row.range.empty(), row.type == ParameterType::kFlag) << row.name;
    std::string_view tasks = row.tasks;
    while (!tasks.empty()) {
      const std::string task(tasks.substr(0, tasks.find(' ')));
      tasks.remove_prefix(std::min(task.size() + 1, tasks.size()));
      EXPECT_TRUE(names.emplace(task, row.name).second) << task << " takes " << row.name << " twice";
      EXPECT_EQ(find_parameter(task, row.name), &row);
    }
  }
  EXPECT_EQ(find_parameter("classify", "layer"), nullptr);
}

TEST(Parameters, ADefaultIsAValueOfTheRow) {
  for (const Parameter& row : kParameters) {
    const std::string_view value = row.default_value;
    if (row.type == ParameterType::kFlag) {
      EXPECT_TRUE(value.empty() || value == "true") << row.name;
    } else if (row.type == ParameterType::kWord) {
      const std::vector<std::string> words = words_of(row.range);
      EXPECT_NE(std::ranges::find(words, value), words.end()) << row.name;
    } else if (row.type == ParameterType::kInteger || row.type == ParameterType::kNumber) {
      const size_t dots = row.range.find("..");
      ASSERT_NE(dots, row.range.npos) << row.name;
      const double low = number_of(row.range.substr(0, dots)), high = number_of(row.range.substr(dots + 2));
      EXPECT_LT(low, high) << row.name;
      if (value.empty()) continue;
      EXPECT_GE(number_of(value), low) << row.name;
      EXPECT_LE(number_of(value), high) << row.name;
    }
  }
}

TEST(Parameters, ATextSpeaksOfParametersOfTheSameTask) {
  for (const Parameter& row : kParameters) {
    with_names(row.text, [&](std::string_view name) {
      EXPECT_NE(find_parameter(row.tasks.substr(0, row.tasks.find(' ')), name), nullptr) << row.name << ": " << name;
      return std::string(name);
    });
  }
  EXPECT_EQ(with_names("{} and {one}, {two}", [](std::string_view name) { return "--" + std::string(name); }),
            "{} and --one, --two");
}

template <class T>
void expect_meanings(const Parameter& row) {
  for (const std::string& word : words_of(row.range)) {
    EXPECT_EQ(std::ranges::count(kChoiceWords<T>, word, &ChoiceWord<T>::word), word == "auto" ? 0 : 1)
        << row.name << ": " << word;
  }
}

TEST(Parameters, WordsHaveAMeaningInTheLibrary) {
  for (const char* task : {"classify", "nli", "rerank"})
    expect_meanings<ScoreFunction>(*find_parameter(task, "function"));
  expect_meanings<WindowScores>(*find_parameter("classify", "window_scores"));
  expect_meanings<ChoiceForm>(*find_parameter("choose", "form"));
  expect_meanings<OffsetUnit>(*find_parameter("ner", "offsets"));
  for (const std::string& word : words_of(find_parameter("ner", "aggregation")->range))
    EXPECT_EQ(aggregation_named(word).has_value(), word != "auto") << word;
}

}  // namespace
}  // namespace deberta::parameters_test
