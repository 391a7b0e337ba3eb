// Strict JSON: what is refused, the limits, numbers exact to the last bit, and what is written.
#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::json_test {
namespace {

Json parse(std::string_view text, const JsonLimits& limits = {}) {
  return parse_json(text, "input", limits);
}

TEST(Json, RefusesWhatIsNotStrict) {
  for (const std::string_view text : {"",         " ",           "{",
                                      "[",        "[1,]",        "{\"a\":1,}",
                                      "{a:1}",    "{'a':1}",     "[1 2]",
                                      "// c\n1",  "/* c */ 1",   "NaN",
                                      "Infinity", "-Infinity",   "+1",
                                      "01",       "1.",          ".5",
                                      "1e",       "0x10",        "tru",
                                      "\"",       "\"\\x\"",     "\"\\u12\"",
                                      "\"a\nb\"", "\"\\ud800\"", "\"\\udc00\\ud800\"",
                                      "{} {}",    "1 1",         "[]]",
                                      "\f1"}) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(parse(text), kJson, "input: not valid JSON");
  }
  EXPECT_ERROR(parse(std::string_view("1\0", 2)), kJson, "input: not valid JSON");
  EXPECT_ERROR(parse(std::string_view("{}\0 more", 8)), kJson, "input: not valid JSON: a NUL byte");
  EXPECT_ERROR(parse(std::string_view("[1,\0", 4)), kJson, "input: not valid JSON");
}

TEST(Json, RefusesTextThatIsNotUtf8) {
  for (const std::string_view text : {"\"\xFF\"", "\"\xC0\xAF\"", "\"\xED\xA0\x80\"", "{\"\x80\":1}", "1 \xA0"}) {
    EXPECT_ERROR(parse(text), kJson, "input: not valid UTF-8");
  }
  EXPECT_ERROR(parse("\xEF\xBB\xBF{}"), kJson, "byte order mark");
}

TEST(Json, MessagesGiveLineAndColumn) {
  EXPECT_ERROR(parse("{\n  \"a\": tru,\n}"), kJson, "at line 2, column");
}

TEST(Json, RefusesAKeyThatAppearsTwiceAtAnyDepth) {
  EXPECT_ERROR(parse(R"({"a": 1, "b": 2, "a": 1})"), kJson, "key \"a\" appears twice");
  EXPECT_ERROR(parse(R"([{"x": {"a": 1, "\u0061": 2}}])"), kJson, "key \"a\" appears twice");
  EXPECT_EQ(parse(R"({"a": {"a": {"a": 1}}, "b": {"a": 1}})").as_object().size(), 2u);
}

TEST(Json, HasLimits) {
  EXPECT_ERROR(parse("[1, 2]", {.max_bytes = 5}), kTooLarge, "input: expected at most 5 bytes, got 6");
  EXPECT_EQ(parse("[1, 2]", {.max_bytes = 6}).as_array().size(), 2u);
  EXPECT_ERROR(parse("[[[1]]]", {.max_depth = 2}), kJson, "at most 2 nested levels");
  EXPECT_ERROR(parse(R"({"a": [{}]})", {.max_depth = 2}), kJson, "at most 2 nested levels");
  EXPECT_TRUE(parse("[[1], [1]]", {.max_depth = 2}).is_array());
  EXPECT_TRUE(parse("1", {.max_depth = 0}).is_integer());
  EXPECT_ERROR(parse("[]", {.max_depth = 0}), kJson, "at most 0 nested levels");
  EXPECT_ERROR(parse("[1, 2, 3]", {.max_nodes = 3}), kJson, "at most 3 values");
  EXPECT_TRUE(parse("[1, 2]", {.max_nodes = 3}).is_array());
  EXPECT_ERROR(parse(std::string(1000000, '[')), kJson, "at most 16 nested levels");
}

TEST(Json, IntegersFitInto64Bits) {
  EXPECT_EQ(parse("9223372036854775807").as_integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse("-9223372036854775808").as_integer(), std::numeric_limits<int64_t>::min());
  for (const std::string_view text : {"9223372036854775808", "18446744073709551615", "18446744073709551616",
                                      "-9223372036854775809", "100000000000000000000000000"}) {
    EXPECT_ERROR(parse(text), kJson, "integer does not fit into 64 signed bits");
  }
  EXPECT_EQ(parse("-0").as_integer(), 0);
  EXPECT_ERROR(Json(uint64_t{1} << 63), kJson, "does not fit");
  EXPECT_EQ(Json(uint64_t{5}).as_integer(), 5);
}

TEST(Json, NumbersKeepWhetherTheyWereIntegers) {
  EXPECT_TRUE(parse("2").is_integer());
  EXPECT_FALSE(parse("2.0").is_integer());
  EXPECT_FALSE(parse("2e0").is_integer());
  EXPECT_TRUE(parse("2.0").is_number());
  EXPECT_EQ(parse("2").as_number(), 2.0);
  EXPECT_EQ(parse("1e-7").as_number(), 1e-7);
  EXPECT_EQ(parse("1e20").as_number(), 1e20);
  EXPECT_EQ(parse("4.9e-324").as_number(), 4.9e-324);
  EXPECT_EQ(parse("2.0").dump(), "2.0");
  EXPECT_EQ(parse("2").dump(), "2");
}

TEST(Json, NumbersAreFinite) {
  for (const std::string_view text : {"1e309", "-1e309", "[1e999]"})
    EXPECT_ERROR(parse(text), kJson, "input: not valid JSON");
  EXPECT_ERROR(Json(std::nan("")).dump(), kNotFinite, "not finite");
  EXPECT_ERROR(Json(JsonArray{std::numeric_limits<float>::infinity()}).dump(), kNotFinite, "not finite");
}

TEST(Json, WritesFloatsAsTheShortestTextThatReadsBack) {
  EXPECT_EQ(Json(0.1F).dump(), "0.1");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(1.0F / 3).dump(), "0.33333334");
  EXPECT_EQ(Json(1.0 / 3).dump(), "0.3333333333333333");
  EXPECT_EQ(Json(1e-7).dump(), "1e-07");
  EXPECT_EQ(Json(100.0).dump(), "100.0");
  EXPECT_EQ(Json(-0.0).dump(), "-0.0");
  for (const double value : {5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 123456789.123456789}) {
    EXPECT_EQ(parse(Json(value).dump()).as_number(), value);
  }
}

TEST(Json, AFloatIsReadBackAsItsDigitsSay) {
  EXPECT_EQ(Json(0.1F).as_read_back(), 0.1);
  EXPECT_EQ(Json(0.99990255F).as_read_back(), 0.99990255);
  EXPECT_EQ(Json(0.1F).as_number(), static_cast<double>(0.1F));
  EXPECT_EQ(Json(2.5).as_read_back(), 2.5);
  EXPECT_EQ(Json(7).as_read_back(), 7.0);
}

TEST(Json, ObjectsKeepTheirOrderAndFindTheirMembers) {
  const Json value = parse(R"({"z": 1, "a": [true, null, "x"], "m": {"k": -5}})");
  EXPECT_EQ(value.dump(), R"({"z": 1, "a": [true, null, "x"], "m": {"k": -5}})");
  ASSERT_NE(value.find("m"), nullptr);
  EXPECT_EQ(value.find("m")->find("k")->as_integer(), -5);
  EXPECT_EQ(value.find("none"), nullptr);
  EXPECT_EQ(Json(3).find("a"), nullptr);
}

TEST(Json, WritesWithIndentation) {
  const Json value = parse(R"({"a": [1, {}], "b": []})");
  EXPECT_EQ(value.dump(2), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
  EXPECT_EQ(parse(value.dump(4)).dump(), value.dump());
}

TEST(Json, EscapesControlCharactersOnly) {
  const std::string text = "\"\\/\b\f\n\r\t\x01\x1F\x7F \xC3\xA9 \xF0\x9F\x98\x80";
  const std::string quoted = quote_json(text);
  EXPECT_EQ(quoted, "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u0001\\u001f\\u007f \xC3\xA9 \xF0\x9F\x98\x80\"");
  EXPECT_EQ(parse(quoted).as_string(), text);
  EXPECT_EQ(quote_json(std::string(1, '\0')), "\"\\u0000\"");
}

TEST(Json, ReadsEscapes) {
  EXPECT_EQ(parse(R"("\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\")").as_string(), "\xC3\xA9\xF0\x9F\x98\x80/\b\f\n\r\t\"\\");
  EXPECT_EQ(parse(R"("a\u0000b")").as_string(), std::string("a\0b", 3));
}

TEST(Json, DescribesValuesForMessages) {
  EXPECT_EQ(Json("256").describe(), "\"256\" (string)");
  EXPECT_EQ(Json(-1).describe(), "-1 (integer)");
  EXPECT_EQ(Json(0.5).describe(), "0.5 (number)");
  EXPECT_EQ(Json(true).describe(), "true (boolean)");
  EXPECT_EQ(Json(nullptr).describe(), "null");
  EXPECT_EQ(Json(JsonArray{}).describe(), "an array");
  EXPECT_EQ(Json(JsonObject{}).describe(), "an object");
  EXPECT_LT(Json(std::string(1000, 'x')).describe().size(), 100u);
}

TEST(Json, LoadsFilesWithTheirPathInTheMessage) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path("a.json"), "{\"a\": 1}\n");
  EXPECT_EQ(load_json(folder.path("a.json")).find("a")->as_integer(), 1);
  test::write_text(folder.path("b.json"), "{");
  EXPECT_ERROR(load_json(folder.path("b.json")), kJson, "b.json: not valid JSON");
  EXPECT_ERROR(load_json(folder.path("a.json"), {.max_bytes = 3}), kTooLarge, "a.json: expected at most 3 bytes");
  EXPECT_ERROR(load_json(folder.path("c.json")), kFileNotFound, "c.json");
}

}  // namespace
}  // namespace deberta::json_test
