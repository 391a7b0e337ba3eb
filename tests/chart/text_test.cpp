// Numbers, escapes and widths.
#include "chart/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/utf8.h"

namespace deberta::chart::text_test {
namespace {

TEST(ChartText, OfOthersIsNoMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  EXPECT_EQ(escape_html("\xC3\xA4 \xFF\x01\n"), "\xC3\xA4 \xEF\xBF\xBD\xEF\xBF\xBD\n");
}

TEST(ChartNumbers, AreShortOnAxes) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},         {0.25, "0.25"}, {5e-4, "5e-4"},    {-0.0, "-0"}, {1.5e-5, "1.5e-5"}, {5000, "5000"},
      {1e300, "1e300"}, {12000, "12k"}, {1.25e6, "1.25M"}, {2e9, "2G"},  {-12000, "-12k"},   {NAN, "not finite"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(axis_number(value), text);
  EXPECT_EQ(axis_number(0.123456, 2), "0.12");
}

TEST(ChartNumbers, AreExactInTables) {
  EXPECT_EQ(exact_number(0.1913243), "0.191324");
  EXPECT_EQ(exact_number(338), "338");
  EXPECT_EQ(exact_number(6500000), "6,500,000");
  EXPECT_EQ(exact_number(-1234567.8), "-1,234,568");
  EXPECT_EQ(exact_number(8.3333e-6), "8.3333e-6");
  EXPECT_EQ(exact_number(NAN), "NaN");
  EXPECT_EQ(exact_number(-INFINITY), "-infinity");
}

TEST(ChartText, IsShortenedAtCharacters) {
  EXPECT_EQ(shortened("short", 13, 100), "short");
  const std::string cut = shortened("a very long label of a row", 13, 80);
  EXPECT_TRUE(cut.ends_with("\u2026")) << cut;
  EXPECT_LE(text_width(cut, 13), 80);
  for (double width = 0; width < 200; width += 3) {
    const std::string wide = shortened("\u65e5\u672c\u8a9e\u306e\u6587\u7ae0 \xF0\x9F\x98\x80 \u00e4\u00f6", 13, width);
    EXPECT_TRUE(is_valid_utf8(wide)) << width;
  }
  EXPECT_GT(text_width("\u65e5", 10), text_width("n", 10)) << "East Asian characters are wider";
}

TEST(ChartText, IsWrappedAtWords) {
  const std::vector<std::string> lines = wrapped("one two three four five six seven", 13, 80, 3);
  ASSERT_EQ(lines.size(), 3u);
  for (const std::string& line : lines) EXPECT_LE(text_width(line, 13), 80) << line;
  EXPECT_TRUE(lines.back().ends_with("\u2026")) << lines.back();
  EXPECT_EQ(wrapped("", 13, 80, 3).size(), 0u);
  EXPECT_EQ(wrapped("one", 13, 80, 3), std::vector<std::string>{"one"});
}

}  // namespace
}  // namespace deberta::chart::text_test
