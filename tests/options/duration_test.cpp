#include "options/duration.h"

#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.h"

namespace deberta::duration_test {
namespace {

TEST(Duration, IsANumberOfSecondsMinutesHoursOrDays) {
  EXPECT_EQ(parse_duration("0", "time"), 0);
  EXPECT_EQ(parse_duration("90", "time"), 90);
  EXPECT_EQ(parse_duration("0.5s", "time"), .5);
  EXPECT_EQ(parse_duration("90m", "time"), 5400);
  EXPECT_EQ(parse_duration("1.5h", "time"), 5400);
  EXPECT_EQ(parse_duration("2d", "time"), 172800);
}

TEST(Duration, IsRefusedInAnotherForm) {
  for (const char* text : {"", "h", "8 h", " 8h", "-1", "8h30m", "nan", "inf", "1e999", "8w", "+3"})
    EXPECT_ERROR(parse_duration(text, "--max-time"), kUsage,
                 "--max-time: expected a time such as 90, 90m, 1.5h or 2d, got \"" + std::string(text) + "\"");
}

}  // namespace
}  // namespace deberta::duration_test
