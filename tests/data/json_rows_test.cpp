// JSON Lines: every rule of strict JSON holds for each line by itself, and after a bad line the next one is still read.
#include "data/json_rows.h"

#include <gtest/gtest.h>

#include "support/compressed.h"
#include "support/expect_error.h"

namespace deberta::json_rows_test {
namespace {

// What each row is: its JSON, or `!` and the message.
std::vector<std::string> rows_of(std::string_view text, size_t* blank_lines = nullptr) {
  JsonLineReader reader(LineReader(ByteSource(to_bytes(text), "in")));
  std::vector<std::string> rows;
  for (JsonRow row; reader.next(row);)
    rows.push_back(row.error ? "!" + std::string(row.error->what()) : row.value.dump());
  if (blank_lines != nullptr) *blank_lines = reader.blank_lines();
  return rows;
}

TEST(JsonLines, BlankLinesArePassedOverAndCounted) {
  size_t blank = 0;
  EXPECT_EQ(rows_of("\n{\"a\": 1}\n \t\r\n[2]\r\n\n\"x\"", &blank),
            (std::vector<std::string>{"{\"a\": 1}", "[2]", "\"x\""}));
  EXPECT_EQ(blank, 3u);
  EXPECT_TRUE(rows_of("").empty());
  EXPECT_TRUE(rows_of("\n\n").empty());
}

TEST(JsonLines, ErrorsGiveFileLineAndColumn) {
  const auto rows = rows_of("{}\n\n{\"a\": tru}\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[1].starts_with("!in:3: not valid JSON at column 10")) << rows[1];
}

struct Hostile {
  std::string line;
  std::string part;
};

std::vector<Hostile> hostile_lines() {
  return {{"{\"a\": 1, \"a\": 2}", "key \"a\" appears twice"},
          {"[{\"b\": {\"a\": 1, \"\\u0061\": 2}}]", "key \"a\" appears twice"},
          {"{\"a\": 1e309}", "not valid JSON at byte 11: number overflow parsing '1e309'"},
          {"{\"a\": -1e999}", "number overflow"},
          {"{\"a\": NaN}", "not valid JSON at column"},
          {"{\"a\": Infinity}", "not valid JSON at column"},
          {"{\"a\": -Infinity}", "not valid JSON at column"},
          {"{\"a\": 01}", "not valid JSON at column"},
          {"{\"a\": -01}", "not valid JSON at column"},
          {"{\"a\": +1}", "not valid JSON at column"},
          {"{\"a\": .5}", "not valid JSON at column"},
          {"{\"a\": 1.}", "not valid JSON at column"},
          {"{\"a\": 0x10}", "not valid JSON at column"},
          {"{\"a\": 9223372036854775808}", "does not fit into 64 signed bits"},
          {"{\"a\": -9223372036854775809}", "does not fit into 64 signed bits"},
          {"{\"a\": 18446744073709551616}", "does not fit into 64 signed bits"},
          {"{\"a\": 1} // comment", "not valid JSON at column"},
          {"/* comment */ {}", "not valid JSON at column"},
          {"{\"a\": 1,}", "not valid JSON at column"},
          {"[1, 2,]", "not valid JSON at column"},
          {"{\"a\": \"\\ud800\"}", "not valid JSON at column"},
          {"{\"a\": \"\\udc00\\ud800\"}", "not valid JSON at column"},
          {"{\"a\": \"\\ud800x\"}", "not valid JSON at column"},
          {"{\"a\": \"\t\"}", "not valid JSON at column"},
          {"{'a': 1}", "not valid JSON at column"},
          {"{a: 1}", "not valid JSON at column"},
          {"{} {}", "not valid JSON at column"},
          {"{}]", "not valid JSON at column"},
          {"{\"a\": 1", "not valid JSON at column"},
          {"\xEF\xBB\xBF{}", "byte order mark"},
          {std::string("{}\0", 3), "a NUL byte"},
          {std::string(33, '[') + std::string(33, ']'), "at most 32 nested levels"},
          {std::string(1000000, '['), "at most 32 nested levels"}};
}

TEST(JsonLines, EveryLooseFormIsRefusedInItsPlaceAndTheNextLineIsRead) {
  for (const Hostile& hostile : hostile_lines()) {
    SCOPED_TRACE(hostile.line.substr(0, 60));
    if (hostile.line.find('\0') != std::string::npos) {
      EXPECT_ERROR(rows_of("1\n" + hostile.line), kInput, "got a NUL byte");
      continue;
    }
    const auto rows = rows_of("1\n" + hostile.line + "\n[2]\n");
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[2], "[2]");
    EXPECT_TRUE(rows[1].starts_with("!in:2: ")) << rows[1];
    EXPECT_NE(rows[1].find(hostile.part), std::string::npos) << rows[1];
  }
}

TEST(JsonLines, WhatIsJustAllowedIsRead) {
  EXPECT_EQ(rows_of(std::string(32, '[') + std::string(32, ']'))[0].size(), 64u);
  EXPECT_EQ(
      rows_of("9223372036854775807\n-9223372036854775808\n1e308\n\"\\ud83d\\ude00\"\n"),
      (std::vector<std::string>{"9223372036854775807", "-9223372036854775808", "1e+308", "\"\xF0\x9F\x98\x80\""}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF{}"), (std::vector<std::string>{"{}"}));
}

TEST(JsonLines, InvalidUtf8InATextIsRepaired) {
  EXPECT_EQ(rows_of("\"a\xFF\"\n"), (std::vector<std::string>{"\"a\xEF\xBF\xBD\""}));
  EXPECT_EQ(rows_of("\"\xED\xA0\x80\"\n"), (std::vector<std::string>{"\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}));
}

TEST(JsonLines, ALineAboveTheLimitIsAnErrorInItsPlace) {
  const std::string fits = "\"" + std::string(LineReader::kMaxLineBytes - 2, 'x') + "\"";
  const auto rows = rows_of(fits + "\n" + fits + " \n1\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].size(), fits.size());
  EXPECT_EQ(rows[1], "!in:2: expected a line of at most 16777216 bytes");
  EXPECT_EQ(rows[2], "1");
}

TEST(JsonLines, HasAtMostAMillionValuesInALine) {
  std::string many = "[0";
  for (int i = 0; i < 1000000; ++i) many += ",0";
  EXPECT_NE(rows_of(many + "]")[0].find("expected at most 1000000 values"), std::string::npos);
}

TEST(JsonDocument, IsReadAsAWholeUnderItsLimits) {
  const auto read = [](std::string_view text, JsonLimits limits = {}) {
    ByteSource source(to_bytes(text), "in");
    return read_json_document(source, limits).dump();
  };
  EXPECT_EQ(read("\xEF\xBB\xBF[1,\r\n \"\xFF\"]\n"), "[1, \"\xEF\xBF\xBD\"]");
  EXPECT_ERROR(read("[1,\n2,]"), kJson, "in: not valid JSON at line 2, column 3");
  EXPECT_ERROR(read("[1, 2]", {.max_bytes = 5}), kTooLarge, "in: expected at most 5 bytes");
  const std::string stored = test::compressed("[\"" + std::string(100000, 'x') + "\"]", Compression::kXz);
  ByteSource source(to_bytes(stored), "in", Compression::kXz);
  EXPECT_ERROR(read_json_document(source, {.max_bytes = 100000}), kTooLarge, "in: expected at most 100000 bytes");
}

}  // namespace
}  // namespace deberta::json_rows_test
