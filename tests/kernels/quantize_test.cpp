// Quantised rows: every implementation gives the bytes and scales of the equation; outliers, zeros, tails, and
// non-finite numbers.
#include "kernels/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/layer_norm.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::quantize_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint8_t kGuard = 77;

class Quantize : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, Quantize, testing::ValuesIn(test::levels_of(Operation::kQuantize)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

// Rows with NaN between them; every third column beyond 20 has another order of magnitude.
struct Rows {
  size_t rows = 4, columns, x_stride, stride;
  std::vector<float> x, reciprocal;
  std::vector<Bf16> brain;
  std::vector<int32_t> outliers;
  std::vector<uint8_t> values;
  std::vector<float> scales;
  std::vector<Bf16> side;

  explicit Rows(size_t column_count, size_t pad = 5)
      : columns(column_count), x_stride(column_count + 2), stride(column_count + pad) {
    x.assign((rows - 1) * x_stride + columns, kNan);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t k = 0; k < columns; ++k) x[i * x_stride + k] = static_cast<float>(test::normal_at(i + 1, k));
    }
    for (const float value : x) brain.push_back(to_bf16(value));
    for (size_t k = 0; k < columns; ++k) reciprocal.push_back(static_cast<float>(0.3 + test::uniform_at(9, k)));
    for (size_t k = 3; k < columns; k += 40) {
      outliers.push_back(static_cast<int32_t>(k));
      reciprocal[k] = 0;
      for (size_t i = 0; i < rows; ++i) x[i * x_stride + k] *= 100;
    }
    values.assign(rows * stride + 8, kGuard);
    scales.assign(rows + 1, 0.125f);
    side.assign(rows * outliers.size() + 1, 0x4242);
  }
  QuantizeParams params(bool is_bf16 = false, bool has_smoothing = true) {
    QuantizeParams p{};
    if (is_bf16) {
      p.x_bf16_TK = brain.data();
    } else {
      p.x_TK = x.data();
    }
    p.x_stride = x_stride;
    p.rows = rows;
    p.columns = columns;
    if (has_smoothing) p.quantizer = {reciprocal.data(), outliers.data(), outliers.size()};
    p.out = {values.data(), stride, scales.data(), side.data()};
    return p;
  }
  float a(const QuantizeParams& p, size_t row, size_t k) const {
    const float value = p.x_TK != nullptr ? x[row * x_stride + k] : from_bf16(brain[row * x_stride + k]);
    return p.quantizer.reciprocal_K != nullptr ? value * reciprocal[k] : value;
  }
  void expect_equation(const QuantizeParams& p) const {
    for (size_t i = 0; i < rows; ++i) {
      float largest = 0;
      for (size_t k = 0; k < columns; ++k) largest = std::max(largest, std::abs(a(p, i, k)));
      ASSERT_EQ(scales[i], largest > 0 ? largest / 127 : 1.0f) << columns << " columns, row " << i;
      for (size_t k = 0; k < stride; ++k) {
        const float q = k < columns && largest > 0 ? std::nearbyint(a(p, i, k) * (127 / largest)) : 0.0f;
        ASSERT_EQ(int{values[i * stride + k]}, static_cast<int>(q) + 128) << columns << " columns, column " << k;
      }
      for (size_t o = 0; o < p.quantizer.outliers; ++o) {
        const size_t at = i * x_stride + static_cast<size_t>(outliers[o]);
        ASSERT_EQ(side[i * outliers.size() + o], p.x_TK != nullptr ? to_bf16(x[at]) : brain[at]);
      }
    }
    for (size_t at = rows * stride; at < values.size(); ++at) ASSERT_EQ(values[at], kGuard);
    ASSERT_EQ(scales.back(), 0.125f);
    ASSERT_EQ(side.back(), 0x4242);
  }
};

TEST_P(Quantize, FollowsTheEquationToTheBitForAllColumns) {
  std::vector<size_t> cases = {384, 768, 1000, 3072};
  for (size_t columns = 1; columns <= 130; ++columns) cases.push_back(columns);
  for (const size_t columns : cases) {
    for (const bool is_bf16 : {false, true}) {
      for (const bool has_smoothing : {false, true}) {
        Rows rows(columns);
        const QuantizeParams p = rows.params(is_bf16, has_smoothing);
        quantize(kernels(), p);
        rows.expect_equation(p);
      }
    }
  }
}

TEST_P(Quantize, UsesTheWholeRangeAndRoundsTiesToEven) {
  std::vector<float> x = {127, -127, 0.5f, 1.5f, -0.5f, -2.5f, 126.5f, 0};
  x.resize(70, 63);
  std::vector<uint8_t> values(70);
  float scale = 0;
  QuantizeParams p{};
  p.x_TK = x.data();
  p.rows = 1;
  p.columns = 70;
  p.out = {values.data(), 70, &scale, nullptr};
  quantize(kernels(), p);
  EXPECT_EQ(scale, 1);
  const std::vector<uint8_t> expected = {255, 1, 128, 130, 128, 126, 254, 128};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), values.begin()));
}

TEST_P(Quantize, ARowOfZerosAndOneOfTinyNumbersHaveScaleOne) {
  Rows rows(50);
  for (size_t k = 0; k < 50; ++k) {
    rows.x[k] = k % 2 == 0 ? 0.0f : -0.0f;
    rows.x[rows.x_stride + k] = 1e-40f;
  }
  quantize(kernels(), rows.params(false, false));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rows.scales[i], 1);
    for (size_t k = 0; k < rows.stride; ++k) EXPECT_EQ(rows.values[i * rows.stride + k], 128);
  }
  EXPECT_NE(rows.scales[2], 1);
}

TEST_P(Quantize, ANumberThatIsNotFiniteShowsInTheScaleOfItsRow) {
  for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
    for (const size_t column : {size_t{0}, size_t{3}, size_t{50}, size_t{69}}) {  // 3 is an outlier
      Rows rows(70);
      rows.x[rows.x_stride + column] = bad;
      quantize(kernels(), rows.params());
      EXPECT_TRUE(std::isnan(rows.scales[1])) << bad << " in column " << column;
      EXPECT_TRUE(std::isfinite(rows.scales[0]) && std::isfinite(rows.scales[2]));
      for (size_t k = 0; k < rows.stride; ++k) EXPECT_EQ(rows.values[rows.stride + k], 128);
    }
  }
}

TEST_P(Quantize, ThreadsChangeNothing) {
  Rows rows(3072);
  quantize(kernels(), rows.params());
  ThreadPool pool(3);
  Rows again(3072);
  QuantizeParams p = again.params();
  p.parallel = pool.parallel();
  quantize(kernels(), p);
  EXPECT_EQ(again.values, rows.values);
  EXPECT_EQ(again.scales, rows.scales);
}

TEST_P(Quantize, LayerNormQuantisesItsOwnOutput) {
  Rows rows(90);
  for (size_t i = 0; i < rows.rows; ++i) {
    for (size_t k = 0; k < 90; ++k) rows.x[i * rows.x_stride + k] += 2;
  }
  const auto gamma = test::normals(7, 90), beta = test::normals(8, 90);
  LayerNormParams norm{};
  norm.x_TD = norm.y_TD = rows.x.data();
  norm.x_stride = norm.y_stride = rows.x_stride;
  norm.gamma_D = gamma.data();
  norm.beta_D = beta.data();
  norm.rows = rows.rows;
  norm.columns = 90;
  const QuantizeParams p = rows.params();
  norm.quantizer = p.quantizer;
  norm.quantized = p.out;
  const uint8_t mask[] = {1, 1, 0, 1};
  norm.mask_T = mask;
  layer_norm(kernels(), norm);
  rows.expect_equation(p);  // x holds y now
  EXPECT_EQ(rows.scales[2], 1);
  norm.quantized.stride = 89;
  EXPECT_ERROR(layer_norm(kernels(), norm), kInternal, "rows overlap");
}

TEST(QuantizeLevels, RefusesWhatDoesNotFitTogether) {
  const KernelSet kernels = select_kernels("auto");
  Rows rows(50);
  QuantizeParams p = rows.params();
  p.x_bf16_TK = rows.brain.data();
  EXPECT_ERROR(quantize(kernels, p), kInternal, "expected one x");
  p = rows.params();
  p.out.scales_T = nullptr;
  EXPECT_ERROR(quantize(kernels, p), kInternal, "a null pointer");
  p = rows.params();
  p.out.side_TO = nullptr;
  EXPECT_ERROR(quantize(kernels, p), kInternal, "a null pointer");
  p = rows.params();
  p.out.stride = 49;
  EXPECT_ERROR(quantize(kernels, p), kInternal, "rows overlap");
  p = rows.params();
  rows.reciprocal[43] = 0.5f;
  EXPECT_ERROR(quantize(kernels, p), kInternal, "an outlier whose reciprocal is not 0");
  rows.outliers[1] = 50;
  EXPECT_ERROR(quantize(kernels, p), kInternal, "an outlier");
  EXPECT_NO_THROW(quantize(kernels, QuantizeParams{}));
}

TEST(QuantizeLevels, CheckComparesBytesAndScales) {
  const KernelSet kernels = select_kernels("check");
  Rows rows(300);
  const QuantizeParams p = rows.params();
  quantize(kernels, p);
  rows.expect_equation(p);
  const KernelCheck::Difference difference = kernels.check->worst(Operation::kQuantize);
  EXPECT_EQ(difference.calls, 1u);
  EXPECT_EQ(difference.worst, 0);
  EXPECT_EQ(difference.where, "[T 4, K 300] row 0");
}

}  // namespace
}  // namespace deberta::quantize_test
