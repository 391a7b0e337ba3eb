// What the library says about its arguments, in the program's words.
#include "options/error_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "options/options.h"
#include "support/expect_error.h"

namespace deberta::error_options_test {
namespace {

std::string printed(Problem problem) {
  return with_options(Error(ErrorCode::kInput, std::vector{std::move(problem)})).what();
}

TEST(ErrorOptions, AnArgumentIsTheOptionOfItsName) {
  EXPECT_EQ(printed({.where = "text",
                     .message = "expected at most 8 tokens, got 9",
                     .argument = "max_tokens",
                     .limit = 8,
                     .remedies = {{"split it"}, {"cut it with {}", "truncate", "right"}, {"raise {}", "max_tokens"}}}),
            "text: expected at most 8 tokens, got 9; split it, cut it with --truncate right, or raise --max-tokens");
}

TEST(ErrorOptions, AnArgumentThatIsThePlaceIsAnOptionBehindTheRow) {
  const Problem problem{.message = "expected less than the 4 tokens, got 4", .argument = "stride"};
  EXPECT_EQ(printed(problem), "--stride: expected less than the 4 tokens, got 4");
  Problem of_a_row = problem;
  of_a_row.source = "in.tsv:3";
  of_a_row.input = 1;
  EXPECT_EQ(printed(of_a_row), "in.tsv:3: --stride: expected less than the 4 tokens, got 4");
  EXPECT_EQ(printed({.where = "question", .message = "bad", .source = "in.tsv:3"}), "in.tsv:3: question: bad");
}

TEST(ErrorOptions, AnOptionMayHaveAnotherNameThanItsArgument) {
  const auto remedy = [](std::string argument, std::string value) {
    return printed({.message = "x", .remedies = {{"say {}", std::move(argument), std::move(value)}}});
  };
  EXPECT_EQ(remedy("max_tokens", ""), "x; say --max-tokens");
  EXPECT_EQ(remedy("max_question_tokens", ""), "x; say --max-question-len");
  EXPECT_EQ(remedy("stride", ""), "x; say --stride");
  EXPECT_EQ(remedy("hypothesis_template", ""), "x; say --template");
  EXPECT_EQ(remedy("fields", ""), "x; say --input-field");
  EXPECT_EQ(remedy("form", "text"), "x; say --input-format text");
  EXPECT_EQ(remedy("kept", ""), "x; say --keep");
  EXPECT_EQ(remedy("model", "ORG/NAME"), "x; say -m ORG/NAME");
  EXPECT_EQ(remedy("parse_special", "false"), "x; say --special-text literal");
  EXPECT_EQ(remedy("classify()", ""), "x; say `deberta classify --pair`");
  EXPECT_EQ(remedy("no_option", ""), "x; say no_option");
}

TEST(ErrorOptions, SettingsOfAServerAreOptionsOfItsVerb) {
  EXPECT_EQ(printed({.message = "expected names that differ, got a twice",
                     .argument = "models",
                     .remedies = {{"give others", "name"}}}),
            "--model: expected names that differ, got a twice; give others: -m NAME=DIR");
  EXPECT_EQ(printed({.message = "expected a key as well",
                     .argument = "has_admin",
                     .remedies = {{"set {}", "api_key"}, {"give {}", "api_key_file"}}}),
            "--admin: expected a key as well; set DEBERTA_API_KEY or give --api-key-file");
}

TEST(ErrorOptions, WhatIsWholeInTheLibraryIsShownAsACommand) {
  EXPECT_EQ(printed({.where = "dir", .message = "got an adapter", .remedies = {{"merge it", "adapter", "dir"}}}),
            "dir: got an adapter; merge it: convert -m FOLDER_OF_THAT_MODEL --adapter dir -o NEW_FOLDER");
  EXPECT_EQ(
      printed({.where = "m",
               .message = "there is none",
               .remedies = {{"make one", "calibrate"}, {"use bf16", "precision", "bf16"}}}),
      "m: there is none; make one with `deberta convert -m DIR -o DIR2 --dtype int8 --calibration-data FILE` or use "
      "bf16");
}

TEST(ErrorOptions, AllProblemsAreNamedAndTheCodeStays) {
  const Error error(ErrorCode::kUsage, {{.message = "x", .argument = "stride"}, {.where = "b", .message = "y"}});
  const Error named = with_options(error);
  EXPECT_STREQ(named.what(), "--stride: x\nb: y");
  EXPECT_EQ(named.code(), ErrorCode::kUsage);
}

// A message of the library stays as it is if its path or label contains braces.
TEST(ErrorOptions, BracesOfOthersStay) {
  EXPECT_EQ(printed({.where = "{}", .message = "{}", .remedies = {{"give a/{}"}}}), "{}: {}; give a/{}");
  EXPECT_EQ(printed({.message = "x", .remedies = {{"names for {}, a: {}", "label_map"}}}),
            "x; names for {}, a: --label-map");
}

}  // namespace
}  // namespace deberta::error_options_test
