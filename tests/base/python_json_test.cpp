// JSON as Python reads and writes it; the expectations are what json.loads and json.dumps of CPython give.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/warnings.h"

namespace deberta::python_json_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json parse(std::string_view text, const JsonLimits& limits = {}) {
  return parse_python_json(text, "config.json", limits);
}

// What json.dumps(json.loads(text)) gives, up to the exponents of floats.
std::string again(std::string_view text) {
  return parse(text).dump(0, JsonForm::kPython);
}

TEST(PythonJson, IntegersHaveNoEnd) {
  for (const std::string text :
       {"9223372036854775808", "-9223372036854775809", "1000000000000000019884624838656", "18446744073709551616"}) {
    const Json value = parse(text);
    EXPECT_TRUE(value.is_big_integer() && value.is_number() && !value.is_integer()) << text;
    EXPECT_EQ(value.whole_number(), std::nullopt) << text;
    EXPECT_EQ(again(text), text);
    EXPECT_EQ(value.dump(), text) << "strict JSON has such integers, too";
  }
  EXPECT_EQ(parse("1000000000000000019884624838656").as_number(), 1e30);
  EXPECT_EQ(parse("9223372036854775807").as_integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse("-9223372036854775808").as_integer(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse("-0").as_integer(), 0);
  EXPECT_EQ(parse(std::string(4300, '9')).as_number(), kInfinity);
  EXPECT_EQ(parse("-" + std::string(4300, '9')).as_number(), -kInfinity);
  EXPECT_ERROR(parse("[" + std::string(4301, '9') + "]"), kJson,
               "config.json: not valid JSON at line 1, column 2: expected an integer of at most 4300 digits, got 4301");
}

TEST(PythonJson, NumbersBeyondDoublesAreInfiniteOrZero) {
  EXPECT_EQ(parse("1e400").as_number(), kInfinity);
  EXPECT_EQ(parse("-1E+400").as_number(), -kInfinity);
  EXPECT_EQ(parse("1e99999999999999999999").as_number(), kInfinity);
  EXPECT_EQ(parse(std::string(400, '9') + ".5").as_number(), kInfinity);
  EXPECT_EQ(parse("0.001e400").as_number(), kInfinity);
  EXPECT_EQ(parse("1e-400").as_number(), 0);
  EXPECT_TRUE(std::signbit(parse("-1e-400").as_number()));
  EXPECT_EQ(parse("1e-99999999999999999999").as_number(), 0);
  EXPECT_EQ(parse("0." + std::string(400, '0') + "1").as_number(), 0);
  EXPECT_EQ(parse("0e99999999999999999999").as_number(), 0);
  EXPECT_EQ(parse(std::string(400, '9') + ".5e-400").as_number(), 1);
  EXPECT_EQ(parse("4.9e-324").as_number(), 4.9e-324);
  EXPECT_EQ(parse("1.7976931348623157e308").as_number(), std::numeric_limits<double>::max());
  EXPECT_EQ(again("1e400"), "Infinity");
}

TEST(PythonJson, NamesOfNumbersThatAreNotFinite) {
  EXPECT_TRUE(std::isnan(parse("NaN").as_number()));
  EXPECT_EQ(parse("Infinity").as_number(), kInfinity);
  EXPECT_EQ(parse("-Infinity").as_number(), -kInfinity);
  EXPECT_EQ(again(R"({"a": [NaN, Infinity, -Infinity]})"), R"({"a": [NaN, Infinity, -Infinity]})");
  EXPECT_EQ(parse("NaN").describe(), "NaN (number)");
  EXPECT_ERROR(parse("[NaN]").dump(), kNotFinite, "not finite");
}

TEST(PythonJson, SurrogatesByThemselvesAreKept) {
  for (const std::string text : {R"("\ud800")", R"("a\udfffb")", R"("\udc00\ud800")", R"("\ud800A")", R"("\ud800\n")"})
    EXPECT_EQ(again(text), text);
  EXPECT_EQ(again(R"({"\ud800": 1})"), R"({"\ud800": 1})");
  EXPECT_EQ(parse(R"("\ud800\ud83d\ude00")").as_string(), "\xED\xA0\x80\xF0\x9F\x98\x80");
  EXPECT_EQ(parse(R"("\ud83d\ude00\uD83D\uDE00")").as_string(), "\xF0\x9F\x98\x80\xF0\x9F\x98\x80");
  EXPECT_EQ(again("\"\xED\x9F\xBF\xEE\x80\x80\""), "\"\xED\x9F\xBF\xEE\x80\x80\"") << "their neighbours are text";
}

TEST(PythonJson, OfAKeyThatAppearsAgainTheLastValueCounts) {
  const test::Warnings warnings;
  EXPECT_EQ(again(R"({"a": 1, "b": 2, "\u0061": {"x": [1]}})"), R"({"a": {"x": [1]}, "b": 2})");
  EXPECT_EQ(warnings.text, "config.json: key \"a\" appears more than once; its last value counts, as in Python\n");
  EXPECT_EQ(again(R"({"a": {"k": 1, "k": 2}, "a": 0, "a": [{"z": 1, "z": 3}]})"), R"({"a": [{"z": 3}]})");
  EXPECT_EQ(warnings.text.substr(warnings.text.find('\n') + 1),
            "config.json: keys \"a\", \"k\", \"z\" appear more than once; their last values count, as in Python\n");
}

TEST(PythonJson, ARepeatedKeyIsSaidOnceAndNotAtTheSecondReading) {
  const test::Warnings warnings;
  parse_python_json(R"({"a": 1, "a": 2})", "w", {}, JsonWarnings::kSilent);
  EXPECT_EQ(warnings.text, "");
  std::string many = "{";
  for (int i = 0; i < 9; ++i) many += "\"k" + std::to_string(i) + "\": 1, \"k" + std::to_string(i) + "\": 2, ";
  parse(many + "\"k0\": 3}");
  EXPECT_EQ(warnings.text,
            "config.json: keys \"k0\", \"k1\", \"k2\", \"k3\", \"k4\" and 4 more appear more than once; their last "
            "values count, as in Python\n");
}

TEST(PythonJson, RefusesWhatPythonRefuses) {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "[",
                                      "[1,]",
                                      "[,1]",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{'a':1}",
                                      "[1 2]",
                                      "//\n1",
                                      "+1",
                                      "01",
                                      "-01",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "-",
                                      "0x10",
                                      "tru",
                                      "nan",
                                      "-NaN",
                                      "+Infinity",
                                      "-Infinit",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\",
                                      "1_0",
                                      "{} {}",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\u+123\"",
                                      "\"\\u 123\"",
                                      "\"a\nb\"",
                                      "[]]",
                                      "\f1",
                                      "{1:2}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\" 1}",
                                      "[1}",
                                      "{\"a\":1]",
                                      "\"\\u123",
                                      "\xE2\x80\xA8"
                                      "1",
                                      "\"\t\"",
                                      "--1",
                                      "1..2",
                                      "[1]1",
                                      "{\"a\":1 \"b\":2}",
                                      "Infinity1",
                                      "NaNNaN",
                                      "nulll"}) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(parse(text), kJson, "config.json: not valid JSON at line ");
  }
  for (const std::string_view text : {"\"\xFF\"", "\"\xED\xA0\x80\"", "1 \xA0"})
    EXPECT_ERROR(parse(text), kJson, "config.json: not valid UTF-8");
  EXPECT_ERROR(parse("\xEF\xBB\xBF{}"), kJson, "byte order mark");
  EXPECT_ERROR(parse(std::string_view("{}\0 more", 8)), kJson, "a NUL byte");
}

TEST(PythonJson, MessagesGiveLineAndColumn) {
  EXPECT_ERROR(parse("{\n  \"a\": tru,\n}"), kJson,
               "config.json: not valid JSON at line 2, column 8: expected a value");
  EXPECT_ERROR(parse("{\"a\": 1"), kJson, "at line 1, column 8: expected , or }");
  EXPECT_ERROR(parse("[\"a"), kJson, "at line 1, column 2: unterminated string");
}

TEST(PythonJson, HasLimits) {
  EXPECT_ERROR(parse("[1, 2]", {.max_bytes = 5}), kTooLarge, "config.json: expected at most 5 bytes, got 6");
  EXPECT_ERROR(parse("[[[1]]]", {.max_depth = 2}), kJson, "at most 2 nested levels");
  EXPECT_ERROR(parse("[1, 2, 3]", {.max_nodes = 3}), kJson, "at most 3 values");
  EXPECT_ERROR(parse(R"({"a": 1, "a": 2})", {.max_nodes = 2}), kJson, "at most 2 values");
  EXPECT_ERROR(parse(std::string(1000000, '[')), kJson, "at most 16 nested levels");
  EXPECT_TRUE(parse("[[1], [1]]", {.max_depth = 2}).is_array());
}

TEST(PythonJson, ReadsWhatIsStrictAsStrictlyRead) {
  for (const std::string_view text :
       {R"({"z": 1, "a": [true, null, "x", false], "m": {"k": -5, "e": {}, "f": []}})", "[[], [[]], {}, [{}]]",
        R"("\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\ \u0000")", " \t\r\n[ 1 , 2.5e-3 , 1E5, -0.0, 0 ]\n", "1e20",
        "\"\xC3\xA9 \xF0\x9F\x98\x80\x7F\"", "[0.1, 123456789.123456789, 5e-324, 2e0]"}) {
    EXPECT_EQ(again(text), parse_json(text, "strict").dump()) << text;
  }
  EXPECT_FALSE(parse("2.0").is_integer());
  EXPECT_TRUE(parse("2").is_integer());
}

TEST(PythonJson, WholeNumbersAreThoseThatAnIntegerCanMean) {
  EXPECT_EQ(parse("512").whole_number(), 512);
  EXPECT_EQ(parse("512.0").whole_number(), 512);
  EXPECT_EQ(parse("-5.12e2").whole_number(), -512);
  EXPECT_EQ(parse("-0.0").whole_number(), 0);
  EXPECT_EQ(parse("-9223372036854775808.0").whole_number(), std::numeric_limits<int64_t>::min());
  for (const std::string_view text : {"512.5", "9223372036854775808.0", "1e30", "NaN", "Infinity", "1e400", "true",
                                      "\"512\"", "null", "[]", "100000000000000000000"})
    EXPECT_EQ(parse(text).whole_number(), std::nullopt) << text;
}

TEST(PythonJson, TruthIsPythons) {
  for (const std::string_view text : {"null", "false", "0", "-0", "0.0", "-0.0", "\"\"", "[]", "{}", "1e-400"})
    EXPECT_FALSE(parse(text).is_truthy()) << text;
  for (const std::string_view text : {"true", "1", "-1", "0.5", "NaN", "Infinity", "\"false\"", "\" \"", "[0]",
                                      "{\"a\": null}", "100000000000000000000"})
    EXPECT_TRUE(parse(text).is_truthy()) << text;
}

TEST(PythonJson, LoadsFilesWithTheirPathInTheMessage) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path("a.json"), "{\"a\": 1e400}\n");
  EXPECT_EQ(load_python_json(folder.path("a.json")).find("a")->as_number(), kInfinity);
  test::write_text(folder.path("b.json"), "{");
  EXPECT_ERROR(load_python_json(folder.path("b.json")), kJson, "b.json: not valid JSON");
  EXPECT_ERROR(load_python_json(folder.path("a.json"), {.max_bytes = 3}), kTooLarge, "at most 3 bytes");
  EXPECT_ERROR(load_python_json(folder.path("c.json")), kFileNotFound, "c.json");
}

}  // namespace
}  // namespace deberta::python_json_test
