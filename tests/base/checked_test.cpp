// Checked arithmetic, numbers from text, the reader of bytes.
#include "base/checked.h"

#include <gtest/gtest.h>

#include <limits>

namespace deberta::checked_test {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(CheckedArithmetic, GivesNothingWhereTheResultDoesNotFit) {
  EXPECT_EQ(checked_add(2, 3), 5u);
  EXPECT_EQ(checked_add(kMax, 0), kMax);
  EXPECT_EQ(checked_add(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_add(1, kMax), std::nullopt);
  EXPECT_EQ(checked_mul(6, 7), 42u);
  EXPECT_EQ(checked_mul(kMax, 1), kMax);
  EXPECT_EQ(checked_mul(0, kMax), 0u);
  EXPECT_EQ(checked_mul(kMax, 2), std::nullopt);
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul((uint64_t{1} << 32) - 1, (uint64_t{1} << 32) + 1), kMax);
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-42"), -42);
  EXPECT_EQ(parse_number<uint64_t>("18446744073709551615"), kMax);
  EXPECT_EQ(parse_number<double>("2.5e3"), 2500.0);
  for (const std::string_view text : {"", " 1", "1 ", "+1", "1x", "0x10", "1.0", "--1", "2147483648", "-2147483649"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
  for (const std::string_view text : {"-1", "-0", "18446744073709551616"})
    EXPECT_EQ(parse_number<uint64_t>(text), std::nullopt) << text;
  for (const std::string_view text : {"", "1e999", "1,5", "0.1.2"})
    EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
}

TEST(Reader, TakesOnlyWhatIsLeft) {
  Reader reader(to_bytes("abcdef"));
  EXPECT_EQ(reader.left(), 6u);
  EXPECT_EQ(to_text(reader.take(2).value()), "ab");
  EXPECT_EQ(reader.position(), 2u);
  EXPECT_FALSE(reader.take(5).has_value());
  EXPECT_FALSE(reader.take(kMax).has_value());
  EXPECT_EQ(reader.position(), 2u);  // a refused take does not move the position
  EXPECT_EQ(to_text(reader.take(4).value()), "cdef");
  EXPECT_EQ(reader.left(), 0u);
  EXPECT_TRUE(reader.take(0).has_value());
  EXPECT_FALSE(reader.take(1).has_value());
}

TEST(Reader, ReadsLittleEndianIntegers) {
  Reader reader(to_bytes("\x01\x02\xFF\x80\x00\x00\x00\x00\x00\x00"));
  EXPECT_EQ(reader.take_little_endian(2), 0x0201u);
  EXPECT_EQ(reader.take_little_endian(1), 0xFFu);
  EXPECT_EQ(reader.take_little_endian(8), std::nullopt);
  EXPECT_EQ(reader.position(), 3u);
  Reader all(to_bytes("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"));
  EXPECT_EQ(all.take_little_endian(8), kMax);
}

}  // namespace
}  // namespace deberta::checked_test
