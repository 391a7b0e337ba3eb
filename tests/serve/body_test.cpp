// Fields of a body: kinds, ranges, places, names that are nearly right.
#include "serve/body.h"

#include <gtest/gtest.h>

#include <string>

#include "deberta/error.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve::body_test {
namespace {

// The place and the message of what `run` throws.
template <class Run>
std::string refusal(const Run& run) {
  try {
    run();
  } catch (const ApiError& error) {
    return error.field + " | " + error.message;
  }
  return "nothing";
}

constexpr Parameter kRows[] = {{"n", "", ParameterType::kInteger, "2", "1..3", ""},
                               {"x", "", ParameterType::kNumber, "0.25", "0..1", ""},
                               {"flag", "", ParameterType::kFlag, "true", "", ""},
                               {"list", "", ParameterType::kTexts, "", "NAMES", ""},
                               {"word", "", ParameterType::kWord, "auto", "auto|up|down", ""},
                               {"offsets", "", ParameterType::kWord, "chars", "chars|bytes|utf16", ""}};
constexpr Field kWhole = same(kRows[0]), kNumber = same(kRows[1]), kFlag = same(kRows[2]), kList = same(kRows[3]),
                kWord = same(kRows[4]), kUnit = same(kRows[5]);
constexpr Field kNothing{.name = "nothing", .row = kRows[2]}, kFlagOfNumber{.name = "n", .row = kRows[2]};
constexpr Field kHalf{.name = "half", .row = kRows[0]}, kHalfNumber{.name = "half", .row = kRows[1]};

TEST(Body, WhatIsAbsentOrNullIsNothing) {
  const Json json =
      parse_json(R"({"a": null, "text": "x", "flag": true, "n": 3, "x": 0.5, "list": ["p", "q"]})", "body");
  Body body(json);
  EXPECT_EQ(body.find("a"), nullptr);
  EXPECT_EQ(body.text("nothing"), std::nullopt);
  EXPECT_EQ(body.text("text"), "x");
  EXPECT_EQ(body.flag_if_any(kFlag), true);
  EXPECT_EQ(body.flag_if_any(kNothing), std::nullopt);
  EXPECT_EQ(body.whole(kWhole), 3);
  EXPECT_EQ(body.number(kNumber), 0.5);
  EXPECT_EQ(body.texts(kList), (std::vector<std::string>{"p", "q"}));
  EXPECT_TRUE(body.unknown().empty());
}

TEST(Body, AbsentParametersHaveTheirDefaults) {
  const Json json = parse_json("{}", "body");
  Body body(json);
  EXPECT_EQ(body.whole(kWhole), std::nullopt);
  EXPECT_EQ(body.whole_or_default(kWhole), 2);
  EXPECT_EQ(body.number(kNumber), 0.25);
  EXPECT_TRUE(body.flag(kFlag));
  EXPECT_EQ(body.word(kWord), std::nullopt);
  EXPECT_EQ(body.choice<OffsetUnit>(kUnit), std::nullopt);
}

TEST(Body, AReaderOfAnotherKindIsABug) {
  const Json json = parse_json(R"({"n": 3, "flag": true})", "body");
  Body body(json);
  EXPECT_THROW(body.flag(kWhole), Error);
  EXPECT_THROW(body.whole(kFlag), Error);
  EXPECT_THROW(body.number(kWhole), Error);
  EXPECT_THROW(body.word(kFlag), Error);
}

TEST(Body, WordsHaveTheMeaningOfTheLibrary) {
  const Json json = parse_json(R"({"offsets": "UTF16"})", "body");
  EXPECT_EQ(Body(json).choice<OffsetUnit>(kUnit), OffsetUnit::kUtf16);
}

TEST(Body, WrongKindsAndRangesAreRefusedWithTheirPlace) {
  const Json json =
      parse_json(R"({"n": 4, "half": 1.5, "list": ["p", 1], "word": "Up", "object": {"n": "1"}})", "body");
  Body body(json);
  EXPECT_EQ(refusal([&] { body.whole(kWhole); }), "/n | /n: expected a whole number in 1..3, got 4 (integer)");
  EXPECT_EQ(refusal([&] { body.whole(kWhole, 2); }), "/n | /n: expected a whole number in 1..2, got 4 (integer)");
  EXPECT_EQ(refusal([&] { body.whole(kHalf); }), "/half | /half: expected a whole number in 1..3, got 1.5 (number)");
  EXPECT_EQ(refusal([&] { body.number(kHalfNumber); }), "/half | /half: expected a number in 0..1, got 1.5 (number)");
  EXPECT_EQ(refusal([&] { body.text("n"); }), "/n | /n: expected a string, got 4 (integer)");
  EXPECT_EQ(refusal([&] { body.flag(kFlagOfNumber); }), "/n | /n: expected true or false, got 4 (integer)");
  EXPECT_EQ(refusal([&] { body.texts("list"); }), "/list/1 | /list/1: expected a string, got 1 (integer)");
  EXPECT_EQ(body.word(kWord), "up");
  const Json wrong = parse_json(R"({"word": "auto"})", "body");  // which is said by leaving it out
  EXPECT_EQ(refusal([&] { Body(wrong).word(kWord); }), "/word | /word: expected up, down, got \"auto\"");
  EXPECT_EQ(refusal([&] { body.object("object")->whole(kWhole); }),
            "/object/n | /object/n: expected a whole number in 1..3, got \"1\" (string)");
  EXPECT_EQ(refusal([&] { Body(Json(JsonArray{}), ""); }), " | body: expected an object, got an array");
}

TEST(Body, UnknownNamesAreListedAndNearlyRightOnesRefused) {
  const Json json = parse_json(R"({"query": "a", "text": [], "priority": 1})", "body");
  Body body(json);
  body.text("query");
  EXPECT_EQ(body.unknown(), (std::vector<std::string>{"/text", "/priority"}));
  EXPECT_EQ(body.texts("texts"), std::nullopt);
  EXPECT_EQ(refusal([&] { body.unknown(); }), "/text | /text: unknown field; did you mean texts?");
  EXPECT_EQ(refusal([&] { body.refuse_missing("texts"); }), "/text | /text: unknown field; did you mean texts?");
  EXPECT_EQ(refusal([&] { body.refuse_missing("inputs"); }), "/text | /text: unknown field; did you mean texts?");
}

TEST(Body, PartsHaveTheSameRule) {
  const Json json = parse_json(R"({"parameters": {"top_k": 1, "multi_labels": true, "x": 1}})", "body");
  Body body(json);
  std::optional<Body> parameters = body.object("parameters");
  parameters->whole(field::kTopAnswers);
  EXPECT_EQ(body.unknown(), (std::vector<std::string>{"/parameters/multi_labels", "/parameters/x"}));
  body.object("parameters")->find("x");  // another reader of the same object
  EXPECT_EQ(body.unknown(), (std::vector<std::string>{"/parameters/multi_labels"}));
  parameters->flag(field::kMultiLabel);
  EXPECT_EQ(refusal([&] { body.unknown(); }),
            "/parameters/multi_labels | /parameters/multi_labels: unknown field; did you mean multi_label?");
}

TEST(JsonBytes, CountsValuesAndMembersButNotWhatIsWithinTexts) {
  const JsonLimits limits{.max_nodes = 1000};
  const size_t one = json_bytes("1", limits), four = json_bytes("[1,2,3]", limits);
  EXPECT_GE(one, sizeof(Json));
  EXPECT_EQ(four, 4 * one);
  EXPECT_GE(json_bytes(R"({"a":1})", limits), sizeof(Json) + sizeof(JsonMember));
  EXPECT_EQ(json_bytes(R"(["[,{:\\\",:", "\\\\"])", limits), 3 * one);
  EXPECT_EQ(json_bytes(std::string(5000, '['), limits), 1000 * one) << "no more are read";
  EXPECT_EQ(json_bytes("\"\\", limits), one);
}

}  // namespace
}  // namespace deberta::serve::body_test
