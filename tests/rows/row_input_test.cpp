// Which rows are mostly of unknown tokens.
#include "rows/row_input.h"

#include <gtest/gtest.h>

namespace deberta::row_input_test {
namespace {

constexpr int32_t kUnk = 3;
bool is_unk(int32_t id) {
  return id == kUnk;
}

// One character each; 9 is a word of one character.
Encoding encoding_of(const std::vector<int32_t>& ids) {
  Encoding encoding;
  const auto add = [&](int32_t id, Offset place, uint8_t is_special) {
    encoding.ids.push_back(id);
    encoding.chars.push_back(place);
    encoding.is_special.push_back(is_special);
  };
  add(1, {0, 0}, 1);
  uint32_t place = 0;
  for (const int32_t id : ids) {
    add(id, {place, place + 1}, 0);
    ++place;
  }
  add(2, {0, 0}, 1);
  return encoding;
}

TEST(RowInput, HalfOfItsCharactersUnknownIsMostlyUnknown) {
  EXPECT_TRUE(are_mostly_unknown(std::vector{encoding_of({kUnk, kUnk, kUnk})}, is_unk));
  EXPECT_TRUE(are_mostly_unknown(std::vector{encoding_of({9, kUnk, kUnk, 9, 9, kUnk})}, is_unk));
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding_of({9, kUnk, kUnk, 9, 9, 9, kUnk})}, is_unk));
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding_of({kUnk, kUnk})}, is_unk)) << "too short to tell";
  EXPECT_TRUE(are_mostly_unknown(std::vector{encoding_of({9, 9}), encoding_of({kUnk, kUnk, kUnk})}, is_unk))
      << "of all sequences";
}

TEST(RowInput, TheBytesOfACharacterAreOne) {
  Encoding encoding = encoding_of({9, kUnk, kUnk, kUnk, kUnk});
  for (size_t t = 2; t < 6; ++t) encoding.chars[t] = {1, 2};
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding}, is_unk));
}

TEST(RowInput, WithoutATextNothingIsUnknown) {
  EXPECT_FALSE(are_mostly_unknown({}, is_unk));
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding_of({})}, is_unk));
  EXPECT_FALSE(are_mostly_unknown(std::vector{encoding_of({9})}, [](int32_t) { return false; }));
}

}  // namespace
}  // namespace deberta::row_input_test
