// Rounding to narrower types: to nearest, ties to even, in one step; what cannot be held is refused.
#include "checkpoint/cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/expect_error.h"

namespace deberta::cast_test {
namespace {

class Collected final : public FileWriter {
 public:
  void write(Bytes bytes) override { text += to_text(bytes); }
  std::string text;
};

template <class To, class From>
std::vector<To> cast(const std::vector<From>& values, DType from, DType to) {
  Collected out;
  write_cast(std::as_bytes(std::span(values)), from, to, "name", out);
  std::vector<To> result(out.text.size() / sizeof(To));
  std::memcpy(result.data(), out.text.data(), out.text.size());
  EXPECT_EQ(result.size(), values.size());
  EXPECT_EQ(find_badly_rounded(std::as_bytes(std::span(values)), from, to_bytes(out.text), to), std::nullopt);
  return result;
}
uint16_t to_half(double value) {
  return cast<uint16_t>(std::vector<double>{value}, DType::kF64, DType::kF16).front();
}
uint16_t to_bfloat(float value) {
  return cast<uint16_t>(std::vector<float>{value}, DType::kF32, DType::kBf16).front();
}

TEST(Cast, RoundsToTheNearestHalfAndTiesToEven) {
  EXPECT_EQ(to_half(0), 0x0000);
  EXPECT_EQ(to_half(-0.0), 0x8000);
  EXPECT_EQ(to_half(1), 0x3C00);
  EXPECT_EQ(to_half(-2), 0xC000);
  EXPECT_EQ(to_half(65504), 0x7BFF);
  EXPECT_EQ(to_half(1 + 0x1p-11), 0x3C00);            // half way: to the even one below
  EXPECT_EQ(to_half(1 + 0x1p-11 + 0x1p-40), 0x3C01);  // a double that single precision would round to the midpoint
  EXPECT_EQ(to_half(1 + 3 * 0x1p-11), 0x3C02);        // half way: to the even one above
  EXPECT_EQ(to_half(1 + 3 * 0x1p-11 - 0x1p-40), 0x3C01);
  EXPECT_EQ(to_half(2 - 0x1p-12), 0x4000);  // the carry goes into the exponent
  EXPECT_EQ(to_half(65519.99), 0x7BFF);
}

TEST(Cast, RoundsToSubnormalHalves) {
  EXPECT_EQ(to_half(0x1p-14), 0x0400);
  EXPECT_EQ(to_half(0x1p-24), 0x0001);
  EXPECT_EQ(to_half(0x1p-25), 0x0000);  // half way to zero, which is even
  EXPECT_EQ(to_half(0x1.8p-25), 0x0001);
  EXPECT_EQ(to_half(3 * 0x1p-25), 0x0002);
  EXPECT_EQ(to_half(0x1p-14 - 0x1p-26), 0x0400);
  EXPECT_EQ(to_half(-0x1p-60), 0x8000);
  EXPECT_EQ(to_half(std::numeric_limits<double>::denorm_min()), 0x0000);
}

TEST(Cast, RoundsToTheNearestBfloat) {
  EXPECT_EQ(to_bfloat(1), 0x3F80);
  EXPECT_EQ(to_bfloat(1 + 0x1p-8F), 0x3F80);
  EXPECT_EQ(to_bfloat(1 + 0x1p-8F + 0x1p-20F), 0x3F81);
  EXPECT_EQ(to_bfloat(1 + 3 * 0x1p-8F), 0x3F82);
  EXPECT_EQ(to_bfloat(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(to_bfloat(0x1p-133F), 0x0001);
  EXPECT_EQ(to_bfloat(3e38F), 0x7F62);
}

// Every value of both 16-bit types goes to single precision and back unchanged, NaN included.
TEST(Cast, ThereAndBackIsBitwise) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const DType dtype : {DType::kF16, DType::kBf16}) {
    const std::vector<uint16_t> back = cast<uint16_t>(cast<float>(all, dtype, DType::kF32), DType::kF32, dtype);
    const uint16_t quiet = dtype == DType::kF16 ? 0x0200 : 0x0040;
    const uint16_t infinity = dtype == DType::kF16 ? 0x7C00 : 0x7F80;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool is_nan = (all[i] & 0x7FFF) > infinity;
      ASSERT_EQ(back[i], is_nan ? all[i] | quiet : all[i]) << i;
    }
  }
}

TEST(Cast, KeepsNanAndInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::kF16, DType::kBf16, DType::kF32}) {
    Collected out;
    const std::vector<double> values = {nan, infinity, -infinity, std::bit_cast<double>(0x7FF0000000000001)};
    write_cast(std::as_bytes(std::span(values)), DType::kF64, dtype, "name", out);
    const std::vector<float> got = to_fp32(TensorView{"", dtype, {4}, to_bytes(out.text)});
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[3]));
    EXPECT_EQ(got[1], std::numeric_limits<float>::infinity());
    EXPECT_EQ(got[2], -std::numeric_limits<float>::infinity());
  }
}

TEST(Cast, RefusesAFiniteValueThatWouldBecomeInfinite) {
  EXPECT_ERROR(to_half(65520), kNotFinite, "name: the value 65520 is too large for F16");
  EXPECT_ERROR(to_half(-1e300), kNotFinite, "too large for F16");
  EXPECT_ERROR(to_bfloat(std::numeric_limits<float>::max()), kNotFinite, "too large for BF16");
  EXPECT_ERROR(cast<float>(std::vector<double>{1e39}, DType::kF64, DType::kF32), kNotFinite, "too large for F32");
}

TEST(Cast, TheBoundNoticesAValueThatIsNotTheNearest) {
  const std::vector<float> source(40000, 1.0F + 0x1p-10F);
  std::vector<uint16_t> written(source.size(), 0x3C01);
  const auto find = [&] {
    return find_badly_rounded(std::as_bytes(std::span(source)), DType::kF32, std::as_bytes(std::span(written)),
                              DType::kF16);
  };
  EXPECT_EQ(find(), std::nullopt);
  for (const uint16_t wrong : std::vector<uint16_t>{0x3C00, 0x3C02, 0x7C00, 0x7E00}) {
    written[30001] = wrong;
    EXPECT_EQ(find(), 30001u);
  }
}

}  // namespace
}  // namespace deberta::cast_test
