// Layer norm and embedding: every implementation that this processor has, against sums in double. Activations.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/activation.h"
#include "kernels/activations.h"
#include "kernels/embedding.h"
#include "kernels/layer_norm.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::row_operations_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = 12345.5f;

std::vector<size_t> column_cases() {
  std::vector<size_t> columns = {384, 768, 1000, 3072};
  for (size_t count = 1; count <= 130; ++count) columns.push_back(count);
  return columns;
}

class RowOperations : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, RowOperations, testing::ValuesIn(test::levels_of(Operation::kLayerNorm)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

// x with NaN between and before its rows, y between guards.
struct NormCase {
  size_t rows, columns, stride;
  std::vector<float> x, residual, gamma, beta, y;

  explicit NormCase(size_t column_count, size_t row_count = 5)
      : rows(row_count), columns(column_count), stride(column_count + 3) {
    x = spread(1, 2, 3);
    residual = spread(2, 1, 0);
    gamma = test::normals(3, columns, 0.3, 1);
    beta = test::normals(4, columns);
    y.assign(8 + rows * stride + 8, kGuard);
  }
  std::vector<float> spread(uint64_t seed, double deviation, double mean) const {
    const auto values = test::normals(seed, rows * columns, deviation, mean);
    std::vector<float> wide(1 + (rows - 1) * stride + columns, kNan);  // nothing after the last row
    for (size_t i = 0; i < rows; ++i) std::copy_n(&values[i * columns], columns, &wide[1 + i * stride]);
    return wide;
  }
  LayerNormParams params() {
    LayerNormParams p{};
    p.x_TD = x.data() + 1;
    p.x_stride = p.y_stride = stride;
    p.gamma_D = gamma.data();
    p.beta_D = beta.data();
    p.y_TD = y.data() + 8;
    p.rows = rows;
    p.columns = columns;
    return p;
  }
  template <class Number>
  std::vector<Number> expected(size_t row, const LayerNormParams& p) const {
    const auto z = [&](size_t c) {
      const float other = p.residual_TD != nullptr ? residual[1 + row * stride + c] : 0;
      return static_cast<Number>(x[1 + row * stride + c]) + static_cast<Number>(other);
    };
    Number mean = 0, variance = 0;
    for (size_t c = 0; c < columns; ++c) mean += z(c);
    mean /= static_cast<Number>(columns);
    for (size_t c = 0; c < columns; ++c) variance += (z(c) - mean) * (z(c) - mean);
    variance /= static_cast<Number>(columns);
    std::vector<Number> y_D(columns);
    for (size_t c = 0; c < columns; ++c) {
      const Number scaled = (z(c) - mean) / std::sqrt(variance + static_cast<Number>(p.epsilon));
      y_D[c] = scaled * static_cast<Number>(gamma[c]) + static_cast<Number>(beta[c]);
    }
    return y_D;
  }
  // At most twice the error of a plain fp32 loop, plus 1e-5.
  void expect_agreement(const LayerNormParams& p) const {
    double error = 0, naive_error = 0;
    for (size_t i = 0; i < rows; ++i) {
      const auto exact_D = expected<double>(i, p);
      const auto naive_D = expected<float>(i, p);
      for (size_t d = 0; d < columns; ++d) {
        ASSERT_TRUE(std::isfinite(result(i, d)));
        error = std::max(error, std::abs(double{result(i, d)} - exact_D[d]));
        naive_error = std::max(naive_error, std::abs(double{naive_D[d]} - exact_D[d]));
      }
    }
    EXPECT_LE(error, 2 * naive_error + 1e-5) << columns << " columns";
  }
  float result(size_t row, size_t d) const { return y[8 + row * stride + d]; }
  void expect_guards() const {
    for (size_t at = 0; at < y.size(); ++at) {
      const bool is_output = at >= 8 && (at - 8) % stride < columns && (at - 8) / stride < rows;
      if (is_output) continue;
      ASSERT_EQ(y[at], kGuard) << "written outside the output at " << at;
    }
  }
};

TEST_P(RowOperations, LayerNormFollowsTheEquationForAllColumns) {
  for (const size_t columns : column_cases()) {
    for (const bool has_residual : {false, true}) {
      NormCase c(columns);
      LayerNormParams p = c.params();
      p.residual_TD = has_residual ? c.residual.data() + 1 : nullptr;
      p.epsilon = columns % 2 == 0 ? 1e-7 : 0.5;  // the large one shows that epsilon is inside the root
      layer_norm(kernels(), p);
      c.expect_agreement(p);
      c.expect_guards();
    }
  }
}

TEST_P(RowOperations, LayerNormWorksInPlaceOfXAndOfTheResidual) {
  for (const bool is_residual : {false, true}) {
    NormCase c(77), again(77);
    LayerNormParams p = c.params(), q = again.params();
    p.residual_TD = c.residual.data() + 1;
    q.residual_TD = again.residual.data() + 1;
    q.y_TD = (is_residual ? again.residual.data() : again.x.data()) + 1;
    layer_norm(kernels(), p);
    layer_norm(kernels(), q);
    for (size_t i = 0; i < c.rows; ++i) {
      EXPECT_EQ(std::memcmp(q.y_TD + i * c.stride, p.y_TD + i * c.stride, 77 * sizeof(float)), 0) << "row " << i;
    }
  }
}

TEST_P(RowOperations, LayerNormOfARowDependsOnItselfAlone) {
  NormCase whole(390, 200);
  layer_norm(kernels(), whole.params());
  for (const unsigned threads : {2u, 3u}) {
    ThreadPool pool(threads);
    NormCase again(390, 200);
    LayerNormParams p = again.params();
    p.parallel = pool.parallel();
    layer_norm(kernels(), p);
    EXPECT_EQ(std::memcmp(again.y.data(), whole.y.data(), whole.y.size() * sizeof(float)), 0) << threads << " threads";
  }
  for (const size_t row : {size_t{0}, size_t{57}, size_t{199}}) {
    std::vector<float> x(&whole.x[1 + row * whole.stride], &whole.x[1 + row * whole.stride] + 390), y(390);
    LayerNormParams p = whole.params();
    p.x_TD = x.data();
    p.y_TD = y.data();
    p.rows = 1;
    layer_norm(kernels(), p);
    EXPECT_EQ(std::memcmp(y.data(), &whole.y[8 + row * whole.stride], 390 * sizeof(float)), 0) << "row " << row;
  }
}

TEST_P(RowOperations, MaskedRowsBecomeZeroAndAConstantRowIsBeta) {
  NormCase c(33);
  const uint8_t mask[] = {1, 0, 1, 0, 1};
  std::fill_n(c.x.begin() + 1, 33, 4.0f);
  std::fill_n(c.x.begin() + 1 + 36, 33, kNan);
  std::vector<Bf16> brain(5 * 33, 7);
  LayerNormParams p = c.params();
  p.mask_T = mask;
  p.y_bf16_TD = brain.data();
  layer_norm(kernels(), p);
  for (size_t d = 0; d < 33; ++d) {
    EXPECT_EQ(c.result(0, d), c.beta[d]);
    EXPECT_EQ(c.result(1, d), 0);
    EXPECT_EQ(brain[33 + d], 0);
    EXPECT_NEAR(c.result(2, d), c.expected<double>(2, p)[d], 4e-6);
  }
  c.expect_guards();
}

TEST_P(RowOperations, LayerNormKeepsANumberThatIsNotFinite) {
  NormCase c(40);
  c.x[1 + 2 * c.stride + 7] = kNan;
  layer_norm(kernels(), c.params());
  for (size_t d = 0; d < 40; ++d) EXPECT_TRUE(std::isnan(c.result(2, d)));
  EXPECT_TRUE(std::isfinite(c.result(1, 0)));
}

TEST_P(RowOperations, LayerNormAlsoWritesTheRowInBf16) {
  for (const size_t columns : {size_t{1}, size_t{15}, size_t{17}, size_t{64}, size_t{129}}) {
    NormCase c(columns);
    std::fill_n(c.gamma.begin(), columns, 1.0f);
    c.beta[0] = kNan;
    const size_t stride = columns + 5;
    std::vector<Bf16> brain(5 * stride, 0x1234);
    LayerNormParams p = c.params();
    p.y_bf16_TD = brain.data();
    p.bf16_stride = stride;
    layer_norm(kernels(), p);
    for (size_t i = 0; i < 5; ++i) {
      for (size_t d = 0; d < columns; ++d) EXPECT_EQ(brain[i * stride + d], to_bf16(c.result(i, d)));
      for (size_t d = columns; d < stride; ++d) EXPECT_EQ(brain[i * stride + d], 0x1234);
    }
  }
}

// Ties, subnormal numbers, the largest one, infinities, and a NaN that would become -0.
TEST_P(RowOperations, RoundingToBf16IsToNearestEven) {
  const uint32_t bits[] = {0x3F808000, 0x3F818000, 0x3F808001, 0x3F817FFF, 0x00000001, 0x00018000, 0x7F7FFFFF,
                           0x7F7F7FFF, 0xFF800000, 0x7F800000, 0x80000000, 0xBF818000, 0x7FFFFFFF};
  constexpr size_t kCount = std::size(bits);
  std::vector<float> zeros(2 * kCount, 0.0f), beta(2 * kCount);
  for (size_t d = 0; d < 2 * kCount; ++d) beta[d] = std::bit_cast<float>(bits[d % kCount]);
  std::vector<float> y(2 * kCount);
  std::vector<Bf16> brain(2 * kCount);
  LayerNormParams p{};
  p.x_TD = p.gamma_D = zeros.data();
  p.beta_D = beta.data();
  p.y_TD = y.data();
  p.y_bf16_TD = brain.data();
  p.rows = 1;
  p.columns = 2 * kCount;
  layer_norm(kernels(), p);
  for (size_t d = 0; d < 2 * kCount; ++d) {
    EXPECT_EQ(brain[d], to_bf16(y[d])) << std::hex << bits[d % kCount];
    if (!std::isnan(beta[d])) {
      EXPECT_EQ(y[d], beta[d]);
    }
  }
}

TEST(LayerNorm, RefusesNullPointers) {
  NormCase c(33);
  LayerNormParams p = c.params();
  p.gamma_D = nullptr;
  EXPECT_ERROR(layer_norm(select_kernels("auto"), p), kInternal, "a null pointer");
}

// Elements of a table in a number format, one byte off any alignment.
struct Table {
  TableFormat format;
  size_t rows, columns;
  std::vector<double> values;
  std::vector<unsigned char> bytes;

  Table(uint64_t seed, TableFormat of, size_t row_count, size_t column_count)
      : format(of), rows(row_count), columns(column_count) {
    const size_t size = format == TableFormat::kF32 ? 4 : 2;
    bytes.assign(1 + rows * columns * size, 0);
    for (size_t i = 0; i < rows * columns; ++i) {
      const auto x = static_cast<float>(test::normal_at(seed, i));
      uint32_t bits = std::bit_cast<uint32_t>(x);
      if (format == TableFormat::kBf16) bits >>= 16;
      if (format == TableFormat::kF16) bits = half_bits(i);
      std::memcpy(&bytes[1 + i * size], &bits, size);
      values.push_back(format == TableFormat::kF16 ? half_value(bits) : double{as_float(bits)});
    }
  }
  EmbeddingTable view() const { return {bytes.data() + 1, format, rows}; }
  double at(int32_t row, size_t e) const { return values[static_cast<size_t>(row) * columns + e]; }

  float as_float(uint32_t bits) const { return std::bit_cast<float>(format == TableFormat::kBf16 ? bits << 16 : bits); }
  // Cycles through all signs, exponents (subnormal too) and fractions, without infinity.
  static uint32_t half_bits(size_t i) {
    const auto bits = static_cast<uint32_t>(i * 7919 % 0x10000);
    return (bits & 0x7C00) == 0x7C00 ? bits & 0xBFFF : bits;
  }
  static double half_value(uint32_t bits) {
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> 10 & 0x1F);
    const int fraction = static_cast<int>(bits & 0x3FF);
    return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
  }
};

TEST_P(RowOperations, EmbeddingAddsTheRowsOfEveryTableInEveryFormat) {
  constexpr size_t kTokens = 21;  // more than are fetched ahead
  std::vector<int32_t> ids, types, positions;
  for (int32_t t = 0; t < static_cast<int32_t>(kTokens); ++t) {
    ids.push_back(t * 7 % 11);
    types.push_back(t % 2);
    positions.push_back(t % 9);
  }
  for (const TableFormat format : {TableFormat::kF32, TableFormat::kF16, TableFormat::kBf16}) {
    for (const size_t columns : {1u, 3u, 8u, 16u, 31u, 47u, 70u, 128u}) {
      const Table word(1, format, 11, columns), type(2, TableFormat::kF32, 2, columns), position(3, format, 9, columns);
      for (const unsigned tables : {0u, 1u, 2u, 3u}) {  // type, position
        const size_t stride = columns + 3;
        std::vector<float> x(kTokens * stride, kGuard);
        EmbeddingParams p{};
        p.word = word.view();
        if ((tables & 1) != 0) p.type = type.view();
        if ((tables & 2) != 0) p.position = position.view();
        p.ids_T = ids.data();
        p.type_ids_T = columns == 3 ? nullptr : types.data();
        p.position_ids_T = positions.data();
        p.tokens = kTokens;
        p.columns = columns;
        p.x_TE = x.data();
        p.x_stride = stride;
        embedding(kernels(), p);
        for (size_t t = 0; t < kTokens; ++t) {
          for (size_t e = 0; e < stride; ++e) {
            if (e >= columns) {
              ASSERT_EQ(x[t * stride + e], kGuard);
              continue;
            }
            double expected = word.at(ids[t], e);
            if ((tables & 1) != 0) expected += type.at(columns == 3 ? 0 : types[t], e);
            if ((tables & 2) != 0) expected += position.at(positions[t], e);
            ASSERT_NEAR(x[t * stride + e], expected, std::abs(expected) * 2.4e-7 + 1e-6);
            if (tables > 0) continue;
            ASSERT_EQ(double{x[t * stride + e]}, expected) << "one row alone is exact";
          }
        }
      }
    }
  }
}

TEST_P(RowOperations, EmbeddingKeepsInfinitiesAndNanOfHalves) {
  const uint16_t half[] = {0x7C00, 0xFC00, 0x7E00};
  const int32_t id = 0;
  float x[3] = {};
  EmbeddingParams p{};
  p.word = {half, TableFormat::kF16, 1};
  p.ids_T = &id;
  p.tokens = 1;
  p.columns = 3;
  p.x_TE = x;
  embedding(kernels(), p);
  EXPECT_EQ(x[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(x[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(x[2]));
}

TEST(Embedding, RefusesNullPointersAndNoTable) {
  const int32_t id = 0;
  float x = 0, word = 1;
  EmbeddingParams p{};
  p.word = {&word, TableFormat::kF32, 1};
  p.ids_T = &id;
  p.tokens = p.columns = 1;
  p.x_TE = &x;
  EXPECT_NO_THROW(embedding(select_kernels("auto"), p));
  p.position = p.word;
  EXPECT_ERROR(embedding(select_kernels("auto"), p), kInternal, "a null pointer");
  p.position = {};
  p.word.rows = 0;
  EXPECT_ERROR(embedding(select_kernels("auto"), p), kInternal, "a null pointer");
}

TEST(RowLevels, CheckComparesLayerNormAndEmbedding) {
  const KernelSet kernels = select_kernels("check");
  NormCase c(390);
  LayerNormParams p = c.params();
  p.y_TD = c.x.data() + 1;
  p.y_stride = c.stride;
  layer_norm(kernels, p);
  KernelCheck::Difference difference = kernels.check->worst(Operation::kLayerNorm);
  EXPECT_EQ(difference.calls, 1u);
  EXPECT_LT(difference.worst, 1e-5);
  c.beta[7] = kNan;
  layer_norm(kernels, c.params());
  difference = kernels.check->worst(Operation::kLayerNorm);
  EXPECT_EQ(difference.worst, std::numeric_limits<double>::infinity());
  EXPECT_EQ(difference.where, "[T 5, D 390] row 0 column 7");

  const Table word(1, TableFormat::kF32, 3, 5);
  const int32_t ids[] = {2, 1};
  float x[10];
  EmbeddingParams e{};
  e.word = word.view();
  e.ids_T = ids;
  e.tokens = 2;
  e.columns = 5;
  e.x_TE = x;
  embedding(kernels, e);
  EXPECT_EQ(kernels.check->worst(Operation::kEmbedding).calls, 1u);
  EXPECT_EQ(kernels.check->worst(Operation::kEmbedding).worst, 0);
}

TEST(Activation, GeluIsTheErfForm) {
  EXPECT_NEAR(activate(KernelActivation::kGelu, 1.0), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(activate(KernelActivation::kGelu, -2.0), -0.04550026389635842, 1e-15);
  EXPECT_NEAR(activate(KernelActivation::kSwish, 1.0), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(activate(KernelActivation::kSigmoid, -1.0), 0.2689414213699951, 1e-15);
  EXPECT_EQ(activate(KernelActivation::kRelu, -3.0), 0);
}

// What transformers' ACT2FN gives in double.
TEST(Activation, EachIsThatOfTransformers) {
  const std::vector<double> x = {-30, -4, -1.5, -0.3, 0, 0.7, 2, 6.5, 12};
  const std::vector<std::pair<KernelActivation, std::vector<double>>> table = {
      {KernelActivation::kGelu,
       {0, -0.00012668496733247991, -0.10021080190328704, -0.11462657334331421, 0, 0.53062544344384888,
        1.9544997361036416, 6.4999999997389599, 12}},
      {KernelActivation::kGeluTanh,
       {0, -7.0245948192271257e-05, -0.10042842301976707, -0.11462907645724074, 0, 0.53057013470511671,
        1.954597694087775, 6.4999999999993721, 12}},
      {KernelActivation::kQuickGelu,
       {0, -0.0044147241395810621, -0.10833780155292341, -0.11251586461840829, 0, 0.53689395172315013,
        1.9356586231442083, 6.4998980689042618, 11.999999983813582}},
      {KernelActivation::kGelu10,
       {0, -0.00012668496733247991, -0.10021080190328704, -0.11462657334331421, 0, 0.53062544344384888,
        1.9544997361036416, 6.4999999997389599, 10}},
      {KernelActivation::kMish,
       {-2.8072868906519209e-12, -0.07259174079202535, -0.29809974216680674, -0.15113317713833455, 0,
        0.56114837764385184, 1.9439589595339946, 6.4999707039398373, 11.99999999909398}},
      {KernelActivation::kRelu6, {0, 0, 0, 0, 0, 0.7, 2, 6, 6}},
      {KernelActivation::kRelu2, {0, 0, 0, 0, 0, 0.49, 4, 42.25, 144}},
      {KernelActivation::kLeakyRelu, {-0.3, -0.04, -0.015, -0.003, 0, 0.7, 2, 6.5, 12}},
      {KernelActivation::kLaplace,
       {0, 0, 2.55351295663786e-15, 0.00017842335597845205, 0.0060944596179355881, 0.48995025477062892,
        0.99999771024506479, 1, 1}},
      {KernelActivation::kSwish,
       {-2.8072868906517896e-12, -0.071944839848366235, -0.27363828570953452, -0.12766724495650231, 0,
        0.46773144051771626, 1.7615941559557646, 6.4902423153312094, 11.999926269904773}},
  };
  for (const auto& [activation, expected] : table) {
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(activate(activation, x[i]), expected[i], 1e-14) << static_cast<int>(activation) << " of " << x[i];
  }
}

TEST(Activation, NaNStaysOne) {
  for (const KernelActivation a : test::kActivations) {
    float x = std::numeric_limits<float>::quiet_NaN();
    activate_row(a, &x, 1);
    EXPECT_TRUE(std::isnan(x)) << static_cast<int>(a);
  }
}

TEST(Activation, SingleAndDoublePrecisionAgree) {
  for (const KernelActivation a : test::kActivations) {
    std::vector<float> x = test::normals(5, 200, 4);
    const std::vector<float> before = x;
    activate_row(a, x.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(x[i], activate(a, double{before[i]}), 2e-6 * std::max(1.0F, std::abs(x[i])));
  }
}

}  // namespace
}  // namespace deberta::row_operations_test
