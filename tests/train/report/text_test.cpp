// Numbers and foreign text in reports.
#include "train/report/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deberta::train::text_test {
namespace {

TEST(ReportText, OfOthersIsNoMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  EXPECT_EQ(escape_html("\xC3\xA4 \xFF\x01\n"), "\xC3\xA4 \xEF\xBF\xBD\xEF\xBF\xBD\n");
  EXPECT_EQ(escape_markdown("a|b\n`c` <d> _e_"), "a\\|b \\`c\\` \\<d\\> \\_e\\_");
}

TEST(ReportNumbers, AreShortOnAxes) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},       {0.25, "0.25"},    {5e-4, "5e-4"}, {-0.0, "-0"},     {1.5e-5, "1.5e-5"}, {5000, "5000"},
      {12000, "12k"}, {1.25e6, "1.25M"}, {2e9, "2G"},    {-12000, "-12k"}, {NAN, "not finite"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(axis_number(value), text);
}

TEST(ReportNumbers, AreExactInTables) {
  EXPECT_EQ(exact_number(0.1913243), "0.191324");
  EXPECT_EQ(exact_number(338), "338");
  EXPECT_EQ(exact_number(6500000), "6,500,000");
  EXPECT_EQ(exact_number(-1234567.8), "-1,234,568");
  EXPECT_EQ(exact_number(8.3333e-6), "8.3333e-6");
  EXPECT_EQ(exact_number(NAN), "NaN");
  EXPECT_EQ(exact_number(-INFINITY), "-infinity");
}

TEST(ReportNumbers, HaveUnitsOfTime) {
  EXPECT_EQ(duration(12.34), "12.3 s");
  EXPECT_EQ(duration(125), "2 min 05 s");
  EXPECT_EQ(duration(3900), "1 h 05 min");
  EXPECT_EQ(duration(NAN), "unknown");
  EXPECT_EQ(utc_time(1700000000.7), "2023-11-14 22:13:20 UTC");
  EXPECT_EQ(utc_time(0), "unknown");
}

}  // namespace
}  // namespace deberta::train::text_test
