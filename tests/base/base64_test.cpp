// Base64: the examples of RFC 4648 and what is refused.
#include "base/base64.h"

#include <gtest/gtest.h>

namespace deberta {
namespace {

TEST(Base64, ReadsWholeGroups) {
  EXPECT_EQ(parse_base64(""), "");
  EXPECT_EQ(parse_base64("Zg=="), "f");
  EXPECT_EQ(parse_base64("Zm8="), "fo");
  EXPECT_EQ(parse_base64("Zm9v"), "foo");
  EXPECT_EQ(parse_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(parse_base64("//79+A=="), "\xFF\xFE\xFD\xF8");
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zm9v=", "Z===", "====", "Zm9v\n", "Zm 9", "Zm9-", "Zh==", "Zm9=", "Zg==Zg=="})
    EXPECT_EQ(parse_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace deberta
