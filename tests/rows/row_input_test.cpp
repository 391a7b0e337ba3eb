// Which rows are mostly of unknown tokens.
#include "rows/row_input.h"

#include <gtest/gtest.h>

namespace deberta::row_input_test {
namespace {

constexpr int32_t kUnk = 3;
bool is_unk(int32_t id) {
  return id == kUnk;
}

Encoding encoding_of(const std::vector<int32_t>& ids) {
  Encoding encoding;
  encoding.ids = {1};
  encoding.is_special = {1};
  for (const int32_t id : ids) {
    encoding.ids.push_back(id);
    encoding.is_special.push_back(0);
  }
  encoding.ids.push_back(2);
  encoding.is_special.push_back(1);
  return encoding;
}

TEST(RowInput, HalfOfItsTokensUnknownIsMostlyUnknown) {
  EXPECT_TRUE(are_mostly_unknown(std::vector{encoding_of({kUnk})}, is_unk));
  EXPECT_TRUE(are_mostly_unknown(std::vector{encoding_of({9, kUnk})}, is_unk));
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding_of({9, 9, kUnk})}, is_unk));
  EXPECT_TRUE(are_mostly_unknown(std::vector{encoding_of({9}), encoding_of({kUnk})}, is_unk)) << "of all sequences";
}

TEST(RowInput, WithoutATextNothingIsUnknown) {
  EXPECT_FALSE(are_mostly_unknown({}, is_unk));
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding_of({})}, is_unk));
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding_of({9})}, [](int32_t) { return false; }));
}

}  // namespace
}  // namespace deberta::row_input_test
