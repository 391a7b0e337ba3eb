// Element types: names, sizes, conversions with exact expected values.
#include "checkpoint/tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>

#include "support/expect_error.h"

namespace deberta::tensor_test {
namespace {

template <class Value>
TensorView view(DType dtype, const std::vector<Value>& values) {
  return {"x", dtype, {static_cast<int64_t>(values.size())}, std::as_bytes(std::span(values))};
}

TEST(DTypes, HaveNamesAndSizesThatReadBack) {
  const std::vector<std::tuple<DType, std::string, size_t>> table = {
      {DType::kF64, "F64", 8}, {DType::kF32, "F32", 4},  {DType::kF16, "F16", 2}, {DType::kBf16, "BF16", 2},
      {DType::kI64, "I64", 8}, {DType::kI32, "I32", 4},  {DType::kI16, "I16", 2}, {DType::kI8, "I8", 1},
      {DType::kU8, "U8", 1},   {DType::kBool, "BOOL", 1}};
  for (const auto& [dtype, name, size] : table) {
    EXPECT_EQ(to_string(dtype), name);
    EXPECT_EQ(size_of(dtype), size);
    EXPECT_EQ(parse_dtype(name), dtype);
    EXPECT_EQ(is_float(dtype), name.find('F') != std::string::npos);
  }
  EXPECT_EQ(parse_dtype("f32"), std::nullopt);
  EXPECT_EQ(list_dtypes(), "F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL");
}

TEST(Shapes, AreWrittenAsListsAndMeasuredWithoutOverflow) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{2, 3}), "[2, 3]");
  EXPECT_EQ(size_bytes_of(DType::kF32, {}), 4u);
  EXPECT_EQ(size_bytes_of(DType::kF16, {2, 3}), 12u);
  EXPECT_EQ(size_bytes_of(DType::kF16, {2, 0}), 0u);
  EXPECT_EQ(size_bytes_of(DType::kF32, {-1}), std::nullopt);
  EXPECT_EQ(size_bytes_of(DType::kU8, {int64_t{1} << 32, int64_t{1} << 32}), std::nullopt);
}

// The value of a half by its definition: (-1)^s * 2^(e - 15) * 1.m, or 2^-14 * 0.m.
float half_by_definition(unsigned half) {
  const float sign = (half & 0x8000u) != 0 ? -1.0F : 1.0F;
  const int exponent = static_cast<int>(half >> 10 & 31);
  const float mantissa = static_cast<float>(half & 1023) / 1024;
  if (exponent == 31)
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(mantissa, -14);
  return sign * std::ldexp(1 + mantissa, exponent - 15);
}

TEST(ToFp32, IsExactForEveryHalf) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const std::vector<float> values = to_fp32(view(DType::kF16, halves));
  for (unsigned i = 0; i < 65536; ++i) {
    const float expected = half_by_definition(i);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(values[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(expected)) << i;
    }
  }
}

TEST(ToFp32, ConvertsTheOtherTypes) {
  EXPECT_EQ(to_fp32(view<uint16_t>(DType::kBf16, {0x3F80, 0xC000, 0x0001, 0x7F80})),
            (std::vector<float>{1, -2, std::bit_cast<float>(0x00010000u), std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(to_fp32(view<double>(DType::kF64, {0.1, -1e300})),
            (std::vector<float>{0.1F, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(to_fp32(view<float>(DType::kF32, {0.1F, -3})), (std::vector<float>{0.1F, -3}));
  EXPECT_EQ(to_fp32(view<int64_t>(DType::kI64, {-7, 1 << 24})), (std::vector<float>{-7, 16777216}));
  EXPECT_EQ(to_fp32(view<int32_t>(DType::kI32, {-7, 9})), (std::vector<float>{-7, 9}));
  EXPECT_EQ(to_fp32(view<int16_t>(DType::kI16, {-7, 9})), (std::vector<float>{-7, 9}));
  EXPECT_EQ(to_fp32(view<int8_t>(DType::kI8, {-7, 9})), (std::vector<float>{-7, 9}));
  EXPECT_EQ(to_fp32(view<uint8_t>(DType::kU8, {200, 9})), (std::vector<float>{200, 9}));
  EXPECT_EQ(to_fp32(view<float>(DType::kF32, {})), std::vector<float>{});
  EXPECT_ERROR(to_fp32(view<uint8_t>(DType::kBool, {1})), kTensors, "x: expected numbers, got BOOL");
}

TEST(ToFp32, ReadsFromOddAddresses) {
  std::vector<std::byte> bytes(9);
  const float value = 1.5F;
  std::memcpy(bytes.data() + 1, &value, sizeof value);
  const TensorView tensor{"x", DType::kF32, {1}, Bytes(bytes).subspan(1, 4)};
  EXPECT_EQ(to_fp32(tensor), std::vector<float>{1.5F});
  const TensorView halves{"x", DType::kF16, {2}, Bytes(bytes).subspan(1, 4)};
  EXPECT_EQ(to_fp32(halves).size(), 2u);
}

TEST(ToInt64, ConvertsIntegersAndRefusesFloats) {
  EXPECT_EQ(to_int64(view<int64_t>(DType::kI64, {-5, int64_t{1} << 60})), (std::vector<int64_t>{-5, int64_t{1} << 60}));
  EXPECT_EQ(to_int64(view<int32_t>(DType::kI32, {-5})), std::vector<int64_t>{-5});
  EXPECT_EQ(to_int64(view<int16_t>(DType::kI16, {-5})), std::vector<int64_t>{-5});
  EXPECT_EQ(to_int64(view<int8_t>(DType::kI8, {-5})), std::vector<int64_t>{-5});
  EXPECT_EQ(to_int64(view<uint8_t>(DType::kU8, {255})), std::vector<int64_t>{255});
  EXPECT_EQ(to_int64(view<uint8_t>(DType::kBool, {1, 0})), (std::vector<int64_t>{1, 0}));
  EXPECT_ERROR(to_int64(view<float>(DType::kF32, {1})), kTensors, "expected integers, got F32");
}

}  // namespace
}  // namespace deberta::tensor_test
