// Foreign text, durations and dates in reports.
#include "train/report/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deberta::train::text_test {
namespace {

TEST(ReportText, OfOthersIsNoMarkdown) {
  EXPECT_EQ(escape_markdown("a|b\n`c` <d> _e_"), "a\\|b \\`c\\` \\<d\\> \\_e\\_");
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
