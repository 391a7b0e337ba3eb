#include "base/ascii.h"

#include <gtest/gtest.h>

namespace deberta::ascii_test {
namespace {

TEST(Ascii, LowerCaseChangesLettersOfAsciiOnly) {
  EXPECT_EQ(lower_case("AZaz@[09_-"), "azaz@[09_-");
  EXPECT_EQ(lower_case("\xC3\x84\xC4\xB0 K"), "\xC3\x84\xC4\xB0 k");
  EXPECT_EQ(lower_case(""), "");
}

TEST(Ascii, StripTakesWhiteSpaceFromBothEndsOnly) {
  EXPECT_EQ(strip(" \t\r\n\v\f\x1c\x1d\x1e\x1f"
                  "a b\t \x1f"),
            "a b");
  EXPECT_EQ(strip("a"), "a");
  EXPECT_EQ(strip(" \n "), "");
  EXPECT_EQ(strip("\xC2\xA0"
                  "a"),
            "\xC2\xA0"
            "a");  // a space that is not of ASCII
}

TEST(Ascii, WhiteTextHasNothingElse) {
  EXPECT_TRUE(is_white(""));
  EXPECT_TRUE(is_white(" \t\r\n\f\v"));
  EXPECT_FALSE(is_white(" a "));
  EXPECT_FALSE(is_white("\x1c"));
  EXPECT_FALSE(is_white("\xC2\xA0"));
}

}  // namespace
}  // namespace deberta::ascii_test
