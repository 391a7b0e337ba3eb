// UTF-8 against the table of well-formed sequences of the Unicode standard (table 3-7) and Python's errors="replace".
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <vector>

namespace deberta::utf8_test {
namespace {

struct WellFormed {
  char32_t first, last;  // code points
  std::string first_bytes, last_bytes;
};

// All rows of table 3-7.
const std::vector<WellFormed> kTable = {
    {0x0000, 0x007F, std::string(1, '\0'), "\x7F"},
    {0x0080, 0x07FF, "\xC2\x80", "\xDF\xBF"},
    {0x0800, 0x0FFF, "\xE0\xA0\x80", "\xE0\xBF\xBF"},
    {0x1000, 0xCFFF, "\xE1\x80\x80", "\xEC\xBF\xBF"},
    {0xD000, 0xD7FF, "\xED\x80\x80", "\xED\x9F\xBF"},
    {0xE000, 0xFFFF, "\xEE\x80\x80", "\xEF\xBF\xBF"},
    {0x10000, 0x3FFFF, "\xF0\x90\x80\x80", "\xF0\xBF\xBF\xBF"},
    {0x40000, 0xFFFFF, "\xF1\x80\x80\x80", "\xF3\xBF\xBF\xBF"},
    {0x100000, 0x10FFFF, "\xF4\x80\x80\x80", "\xF4\x8F\xBF\xBF"},
};

void expect_valid(const std::string& bytes, char32_t value) {
  const CodePoint point = decode_utf8(bytes, 0);
  EXPECT_TRUE(point.is_valid);
  EXPECT_EQ(point.value, value);
  EXPECT_EQ(point.size_bytes, bytes.size());
  EXPECT_TRUE(is_valid_utf8(bytes));
  EXPECT_EQ(replace_invalid_utf8(bytes), bytes);
  EXPECT_EQ(count_code_points(bytes), 1u);
  std::string encoded;
  append_utf8(encoded, value);
  EXPECT_EQ(encoded, bytes);
}

TEST(Utf8, AcceptsBothEndsOfEveryRow) {
  for (const WellFormed& row : kTable) {
    expect_valid(row.first_bytes, row.first);
    expect_valid(row.last_bytes, row.last);
  }
}

TEST(Utf8, EveryCodePointReadsBack) {
  for (char32_t value = 0; value <= 0x10FFFF; value += value < 0x900 ? 1 : 97) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    std::string bytes;
    append_utf8(bytes, value);
    const CodePoint point = decode_utf8(bytes, 0);
    ASSERT_TRUE(point.is_valid);
    ASSERT_EQ(point.value, value);
    ASSERT_EQ(point.size_bytes, bytes.size());
  }
}

struct IllFormed {
  std::string bytes;
  std::string expected;  // '?' stands for U+FFFD
};

// Expected values computed with Python 3.11: bytes.decode("utf-8", "replace").
const std::vector<IllFormed> kIllFormed = {
    {"\x80", "?"},
    {"\xBF", "?"},
    {"\xC0\xAF", "??"},
    {"\xC1\xBF", "??"},
    {"\xC2", "?"},
    {"\xC2"
     "A",
     "?A"},
    {"\xDF\xC0", "??"},
    {"\xE0\x80\xAF", "???"},
    {"\xE0\x9F\xBF", "???"},
    {"\xE0\xA0", "?"},
    {"\xE0\xA0"
     "A",
     "?A"},
    {"\xE1\x80", "?"},
    {"\xED\xA0\x80", "???"},  // a surrogate
    {"\xED\xBF\xBF", "???"},
    {"\xED\x9F", "?"},
    {"\xEF\xBF", "?"},
    {"\xF0\x80\x80\xAF", "????"},
    {"\xF0\x8F\xBF\xBF", "????"},
    {"\xF0\x90\x80", "?"},
    {"\xF0\x90", "?"},
    {"\xF0", "?"},
    {"\xF1\x80\x80"
     "A",
     "?A"},
    {"\xF4\x8F\xBF", "?"},
    {"\xF4\x90\x80\x80", "????"},  // above U+10FFFF
    {"\xF5\x80\x80\x80", "????"},
    {"\xFF", "?"},
    {"\xFE\xFF", "??"},
    {"a\x80\xE4\xB8\xAD"
     "b\xC0",
     "a?\xE4\xB8\xAD"
     "b?"},
    {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
     "A",
     "????A"},  // the standard's example of maximal subparts
    {"\xF0\x80\x80"
     "A",
     "???A"},
    {"\xF8\x88\x80\x80\x80", "?????"},
    {"\xC2\xC2\xA9", "?\xC2\xA9"},
    {"\xF0\x9F\x98\xF0\x9F\x98\x80", "?\xF0\x9F\x98\x80"},
    {"\xED\xA0\xBD\xED\xB8\x80", "??????"},
};

std::string with_replacement_characters(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '?' ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  return result;
}

TEST(Utf8, ReplacesEachMaximalSubpartAsPythonDoes) {
  for (const IllFormed& row : kIllFormed) {
    EXPECT_FALSE(is_valid_utf8(row.bytes)) << row.expected;
    EXPECT_EQ(replace_invalid_utf8(row.bytes), with_replacement_characters(row.expected));
    // Inside a text too: what surrounds it stays.
    EXPECT_EQ(replace_invalid_utf8("x" + row.bytes + "y"), "x" + with_replacement_characters(row.expected) + "y");
  }
}

TEST(Utf8, EveryPairOfBytesGivesValidText) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string bytes = {static_cast<char>(a), static_cast<char>(b)};
      const std::string repaired = replace_invalid_utf8(bytes);
      ASSERT_TRUE(is_valid_utf8(repaired));
      ASSERT_EQ(is_valid_utf8(bytes), repaired == bytes);
    }
  }
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(count_code_points(""), 0u);
  EXPECT_EQ(count_code_points("a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80"), 4u);
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_EQ(replace_invalid_utf8(""), "");
}

TEST(Utf8, DecodesAtAnyPosition) {
  const std::string text =
      "a\xC3\xA9"
      "b";
  EXPECT_EQ(decode_utf8(text, 1).value, U'\u00e9');
  EXPECT_EQ(decode_utf8(text, 3).value, U'b');
  EXPECT_FALSE(decode_utf8(text, 2).is_valid);
  EXPECT_EQ(decode_utf8(text, 2).value, 0xFFFDu);
}

}  // namespace
}  // namespace deberta::utf8_test
