// Base64: the examples of RFC 4648 and what is refused.
#include "base/base64.h"

#include <gtest/gtest.h>

namespace deberta::base64_test {
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

TEST(Base64, WritesWhatItReads) {
  const std::string text = "foobar";  // the examples of RFC 4648
  const std::string_view expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (size_t size = 0; size <= text.size(); ++size) EXPECT_EQ(to_base64(text.substr(0, size)), expected[size]);
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    EXPECT_EQ(parse_base64(to_base64(bytes)), bytes);
  }
}

}  // namespace
}  // namespace deberta::base64_test
