// Fields of a body: kinds, ranges, places, names that are nearly right.
#include "serve/body.h"

#include <gtest/gtest.h>

#include <string>

#include "serve/api_error.h"

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

TEST(Body, WhatIsAbsentOrNullIsNothing) {
  const Json json =
      parse_json(R"({"a": null, "text": "x", "flag": true, "n": 3, "x": 0.5, "list": ["p", "q"]})", "body");
  Body body(json);
  EXPECT_EQ(body.find("a"), nullptr);
  EXPECT_EQ(body.text("nothing"), std::nullopt);
  EXPECT_EQ(body.text("text"), "x");
  EXPECT_EQ(body.flag("flag"), true);
  EXPECT_EQ(body.whole("n", 1, 3), 3);
  EXPECT_EQ(body.number("x", 0, 1), 0.5);
  EXPECT_EQ(body.number("n", 0, 5), 3.0);
  EXPECT_EQ(body.texts("list"), (std::vector<std::string>{"p", "q"}));
  EXPECT_TRUE(body.unknown().empty());
}

TEST(Body, WrongKindsAndRangesAreRefusedWithTheirPlace) {
  const Json json =
      parse_json(R"({"n": 4, "half": 1.5, "list": ["p", 1], "word": "Up", "object": {"n": "1"}})", "body");
  Body body(json);
  EXPECT_EQ(refusal([&] { body.whole("n", 1, 3); }), "/n | /n: expected a whole number in 1..3, got 4 (integer)");
  EXPECT_EQ(refusal([&] { body.whole("half", 1, 3); }),
            "/half | /half: expected a whole number in 1..3, got 1.5 (number)");
  EXPECT_EQ(refusal([&] { body.number("half", 0, 1); }), "/half | /half: expected a number in 0..1, got 1.5 (number)");
  EXPECT_EQ(refusal([&] { body.text("n"); }), "/n | /n: expected a string, got 4 (integer)");
  EXPECT_EQ(refusal([&] { body.flag("n"); }), "/n | /n: expected true or false, got 4 (integer)");
  EXPECT_EQ(refusal([&] { body.texts("list"); }), "/list/1 | /list/1: expected a string, got 1 (integer)");
  EXPECT_EQ(body.choice("word", {"up", "down"}), "up");
  EXPECT_EQ(refusal([&] {
              body.choice("word", {"left", "right"});
            }),
            "/word | /word: expected left, right, got \"Up\"");
  EXPECT_EQ(refusal([&] { body.object("object")->whole("n", 0, 9); }),
            "/object/n | /object/n: expected a whole number in 0..9, got \"1\" (string)");
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
  parameters->whole("top_k", 1, 9);
  EXPECT_EQ(body.unknown(), (std::vector<std::string>{"/parameters/multi_labels", "/parameters/x"}));
  body.object("parameters")->find("x");  // another reader of the same object
  EXPECT_EQ(body.unknown(), (std::vector<std::string>{"/parameters/multi_labels"}));
  parameters->flag("multi_label");
  EXPECT_EQ(refusal([&] { body.unknown(); }),
            "/parameters/multi_labels | /parameters/multi_labels: unknown field; did you mean multi_label?");
}

}  // namespace
}  // namespace deberta::serve::body_test
