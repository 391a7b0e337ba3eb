// The option table is consistent, and values are checked where they are set.
#include "options/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "data/row_form.h"
#include "options/table/rows.h"
#include "pipeline/parameters.h"
#include "support/expect_error.h"

namespace deberta::options_test {
namespace {

const OptionRow& row_of(const Options& options, std::string_view name) {
  return *find_option(options.verb(), name);
}

TEST(OptionTable, EveryRowHasHelpAndADefaultThatItsOwnCheckAccepts) {
  for (const VerbRow& verb : verb_table()) {
    EXPECT_NO_THROW(Options{verb.name}) << verb.name;
    EXPECT_FALSE(verb.summary.empty());
    EXPECT_FALSE(verb.example.empty());
  }
  for (const OptionRow& row : option_table()) {
    EXPECT_FALSE(row.help.empty()) << row.name;
    if (row.type != OptionType::kFlag) {
      EXPECT_FALSE(row.range.empty()) << row.name;
    }
  }
}

TEST(OptionTable, EveryRowStandsUnderTheHeadingOfItsFile) {
  std::vector<std::string_view> headings;
  for (const OptionRow& row : option_table())
    if (headings.empty() || headings.back() != row.section) headings.push_back(row.section);
  EXPECT_TRUE(std::ranges::equal(headings, option_sections()));
  EXPECT_EQ(find_option("serve", "port")->section, "Server");
  EXPECT_EQ(find_option("classify", "output")->section, kOutputSection);
}

// A parameter of a task has no second row in the option table, where its range or its text could differ.
TEST(OptionTable, AParameterOfATaskIsDescribedByItsRow) {
  for (const OptionRow& row : option_table()) {
    if (row.parameter != nullptr) {
      EXPECT_EQ(row.default_value, row.parameter->default_value) << row.name;
      EXPECT_EQ(row.range, row.parameter->range) << row.name;
      EXPECT_EQ(row.verbs, row.parameter->tasks) << row.name;
      EXPECT_EQ(row.help, row.parameter->text) << row.name;
      continue;
    }
    std::string name(row.name);
    std::ranges::replace(name, '-', '_');
    std::istringstream words{std::string(row.verbs)};
    for (std::string verb; words >> verb;) EXPECT_EQ(find_parameter(verb, name), nullptr) << verb << " --" << row.name;
  }
}

TEST(OptionTable, NumbersOfTheLibraryAreDefaultsAsTheyAreTyped) {
  using option_rows::kTyped;
  EXPECT_EQ(kTyped<0>, "0");
  EXPECT_EQ(kTyped<2000000>, "2000000");
  EXPECT_EQ((kTyped<(size_t{1} << 20) + 1>), "1048577");
  EXPECT_EQ(kTyped<size_t{64} << 20>, "64MiB");
  EXPECT_EQ(kTyped<size_t{1} << 30>, "1GiB");
  EXPECT_EQ(kTyped<size_t{1536} << 20>, "1536MiB");
}

TEST(OptionTable, EveryTaskOfAParameterIsAVerb) {
  for (const Parameter& row : kParameters) {
    std::istringstream words{std::string(row.tasks)};
    for (std::string verb; words >> verb;) EXPECT_NE(find_verb(verb), nullptr) << row.name << " names " << verb;
  }
}

TEST(OptionTable, HelpNamesTheOptionsOfOtherParameters) {
  EXPECT_TRUE(help_text(*find_option("qa", "no-answer-threshold")).ends_with("; implies --allow-no-answer"));
  EXPECT_EQ(help_text(*find_option("zero-shot", "template")), "hypothesis for a label; {} is replaced by the label");
  EXPECT_EQ(help_text(*find_option("score", "tokens")), "include the log-probability of each token in json and jsonl");
  for (const OptionRow& row : option_table()) EXPECT_NO_THROW(help_text(row)) << row.name;
}

TEST(OptionTable, TheMostUsedOptionsAreOptionsOfTheirVerb) {
  for (const VerbRow& verb : verb_table()) {
    const std::vector<const OptionRow*> common = common_options(verb);
    const std::set<const OptionRow*> different(common.begin(), common.end());
    EXPECT_EQ(common.size(), different.size()) << verb.name;
    EXPECT_EQ(different.count(nullptr), 0u) << verb.name;
  }
}

TEST(OptionTable, EveryRowNamesVerbsThatExist) {
  for (const OptionRow& row : option_table()) {
    if (row.verbs == "*") continue;
    std::istringstream words{std::string(row.verbs)};
    for (std::string verb; words >> verb;) EXPECT_NE(find_verb(verb), nullptr) << row.name << " names " << verb;
  }
}

TEST(OptionTable, EveryInputFormatIsAFormOfRows) {
  for (const OptionRow& row : option_table()) {
    if (row.name != "input-format") continue;
    std::istringstream words{std::string(row.range)};
    for (std::string word; std::getline(words, word, '|');)
      EXPECT_EQ(parse_row_form(word).has_value(), word != "auto") << row.verbs << ": " << word;
  }
}

TEST(OptionTable, FormerNamesMeanOptionsOfTheirVerbsAndAreNamesOfNone) {
  for (const OptionAlias& alias : option_aliases()) {
    std::istringstream words{std::string(alias.verbs)};
    for (std::string verb; words >> verb;) {
      EXPECT_NE(find_verb(verb), nullptr) << alias.name;
      EXPECT_TRUE(has_option(verb, alias.option)) << alias.name;
      EXPECT_FALSE(has_option(verb, alias.name)) << alias.name;
      Options options(verb);
      if (!alias.value.empty()) {
        EXPECT_NO_THROW(set_alias(alias, "true", "test", options)) << alias.name;
        EXPECT_EQ(options.text(row_of(options, alias.option)), alias.value);
      }
    }
  }
}

TEST(OptionTable, NamesAndShortNamesAreUniqueWithinAVerb) {
  for (const VerbRow& verb : verb_table()) {
    std::set<std::string_view> names;
    std::set<char> short_names;
    for (const OptionRow* row : options_of(verb.name)) {
      EXPECT_TRUE(names.insert(row->name).second) << verb.name << " --" << row->name;
      if (row->short_name != 0) {
        EXPECT_TRUE(short_names.insert(row->short_name).second) << verb.name << " -" << row->short_name;
      }
    }
  }
}

TEST(Options, AnUnknownNameIsRefusedWithTheNearestOne) {
  Options options("classify");
  EXPECT_ERROR(options.set("batch-tokns", "1", "flag"), kUsage,
               "unknown option --batch-tokns; did you mean --batch-tokens?");
}

TEST(Options, AnOptionOfAnotherVerbIsRefused) {
  Options options("tokenize");
  EXPECT_ERROR(options.set("top-k", "1", "flag"), kUsage, "unknown option --top-k");
}

TEST(Options, ABadValueNamesTheOptionTheRangeAndTheValue) {
  Options options("classify");
  EXPECT_ERROR(options.set("top-k", "-1", "flag"), kUsage, "--top-k: expected a value in 0..100000, got \"-1\"");
  EXPECT_ERROR(options.set("top-k", "1x", "flag"), kUsage, "--top-k: expected a whole number");
  EXPECT_ERROR(options.set("top-k", "", "flag"), kUsage, "--top-k");
  EXPECT_ERROR(options.set("activation", "sofmax", "flag"), kUsage, "did you mean softmax?");
  EXPECT_ERROR(options.set("no-crc", "maybe", "flag"), kUsage, "expected true or false");
  EXPECT_ERROR(options.set("batch-tokens", "12q", "flag"), kUsage, "expected a size");
  EXPECT_ERROR(options.set("batch-tokens", "17G", "flag"), kUsage, "expected a value in 1..16M");
}

TEST(Options, ANumberOutOfRangeIsAnsweredWithTheRemedyOfItsRow) {
  Options options("analyze");
  EXPECT_NO_THROW(options.set("head", "1", "flag"));
  EXPECT_ERROR(options.set("head", "0", "flag"), kUsage,
               "--head: expected a value in 1..1000 or auto, got \"0\"; heads count from 1");
}

TEST(Options, ABadValueFromTheEnvironmentNamesTheVariable) {
  Options options("classify");
  EXPECT_ERROR(options.set("threads", "many", "environment DEBERTA_THREADS"), kUsage,
               "environment DEBERTA_THREADS: threads");
}

TEST(Options, ValuesKeepTheirOrigin) {
  Options options("classify");
  EXPECT_FALSE(options.is_given(row_of(options, "top-k")));
  options.set("top-k", "3", "flag");
  EXPECT_TRUE(options.is_given(row_of(options, "top-k")));
  EXPECT_EQ(options.integer(row_of(options, "top-k")), 3);
  EXPECT_NE(options.describe().find("top-k = 3  (flag)"), std::string::npos);
  EXPECT_NE(options.describe().find("threads = 0  (default)"), std::string::npos);
}

TEST(Options, ListsSplitAtCommas) {
  Options options("fill");
  EXPECT_TRUE(options.list(row_of(options, "targets")).empty());
  options.set("targets", "one,two", "flag");
  EXPECT_EQ(options.list(row_of(options, "targets")), (std::vector<std::string>{"one", "two"}));
}

TEST(Options, WhatIsGivenSeveralTimesAddsUpOrIsRefused) {
  Options options("zero-shot");
  EXPECT_TRUE(options.files(row_of(options, "input")).empty());
  options.set("input", std::vector<std::string>{"a,b.csv", "c.csv"}, "flag");
  EXPECT_EQ(options.files(row_of(options, "input")), (std::vector<std::string>{"a,b.csv", "c.csv"}));
  options.set("input", "d.csv", "flag");  // another origin, another value
  EXPECT_EQ(options.files(row_of(options, "input")), (std::vector<std::string>{"d.csv"}));
  EXPECT_ERROR(options.set("input", std::vector<std::string>{"a", ""}, "flag"), kUsage,
               "--input: expected FILE, got \"\"");
  options.set("labels", std::vector<std::string>{"one,two", "three"}, "flag");
  EXPECT_EQ(options.list(row_of(options, "labels")), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_ERROR(options.set("max-tokens", std::vector<std::string>{"8", "9"}, "flag"), kUsage,
               "--max-tokens: expected one value, got 2: 8, 9");
  EXPECT_ERROR(options.set("none", std::vector<std::string>{"8", "9"}, "flag"), kUsage, "");
}

TEST(Options, ANumberThatOtherOptionsDecideIsAuto) {
  Options options("eval");
  EXPECT_TRUE(options.is_auto(row_of(options, "max-tokens")));
  EXPECT_FALSE(options.is_given(row_of(options, "max-tokens")));
  options.set("max-tokens", "8", "flag");
  EXPECT_FALSE(options.is_auto(row_of(options, "max-tokens")));
  EXPECT_EQ(options.integer(row_of(options, "max-tokens")), 8);
  options.set("max-tokens", "auto", "flag");
  EXPECT_TRUE(options.is_auto(row_of(options, "max-tokens")));
  EXPECT_ERROR(options.set("max-tokens", "2", "flag"), kUsage,
               "--max-tokens: expected a value in 3..1048576 or auto, got \"2\"");
  EXPECT_ERROR(options.set("no-answer-threshold", "x", "flag"), kUsage, "expected a number in -1G..1G or auto");
  EXPECT_ERROR(Options("classify").set("max-tokens", "auto", "flag"), kUsage, "expected a whole number in 3..1048576,");
}

TEST(Options, SizesTakeUnits) {
  EXPECT_EQ(parse_size("16k", ""), 16000u);
  EXPECT_EQ(parse_size("2KiB", ""), 2048u);
  EXPECT_EQ(parse_size("3GiB", ""), uint64_t{3} << 30);
  EXPECT_EQ(parse_size("7", ""), 7u);
  EXPECT_ERROR(parse_size("18446744073709551615k", "x"), kUsage, "expected a size");
  EXPECT_ERROR(parse_size("k", "x"), kUsage, "expected a size");
  EXPECT_ERROR(parse_size("-1", "x"), kUsage, "expected a size");
}

TEST(Options, EnvironmentNamesAreCapitals) {
  for (const OptionRow& row : option_table()) {
    if (row.name == "max-tokens") {
      EXPECT_EQ(environment_name(row.name), "DEBERTA_MAX_TOKENS");
    }
  }
}

}  // namespace
}  // namespace deberta::options_test
