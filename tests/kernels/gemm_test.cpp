// GEMM: every implementation that this processor has, in every precision, against sums in double of the operands as
// they were rounded, over one table of shapes.
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/activations.h"
#include "kernels/gemm_case.h"
#include "support/expect_error.h"
#include "support/implementations.h"

namespace deberta::gemm_test {
namespace {

using test::GemmCase;
using test::GemmShape;
using test::Implementation;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<Implementation> all_implementations() {
  return test::implementations(Operation::kGemm, {Precision::kFp32, Precision::kBf16, Precision::kInt8});
}

class Gemm : public testing::TestWithParam<Implementation> {
 protected:
  Precision precision() const { return GetParam().precision; }
  KernelSet kernels() const { return GetParam().kernels(); }
  GemmCase make(GemmShape shape) const { return GemmCase(kernels(), precision(), shape); }
  double tolerance() const { return precision() == Precision::kFp32 ? 1e-5 : 2e-5; }
};
INSTANTIATE_TEST_SUITE_P(All, Gemm, testing::ValuesIn(all_implementations()), test::kNameOfImplementation);

TEST_P(Gemm, ErrorIsAtMostTwiceThatOfTheNaiveSumOverAllShapes) {
  for (const GemmShape& shape : test::edge_shapes()) {
    GemmCase c = make(shape);
    gemm(kernels(), c.params());
    double error = 0, naive_error = 0;
    for (size_t m = 0; m < shape.m; ++m) {
      for (size_t n = 0; n < shape.n; ++n) {
        const double exact = c.exact(m, n);
        ASSERT_TRUE(std::isfinite(c.result(m, n)));
        error = std::max(error, std::abs(double{c.result(m, n)} - exact));
        naive_error = std::max(naive_error, std::abs(double{c.naive(m, n)} - exact));
      }
    }
    EXPECT_LE(error, 2 * naive_error + 1e-5) << "M " << shape.m << " N " << shape.n << " K " << shape.k;
    ASSERT_TRUE(c.has_guards()) << "M " << shape.m << " N " << shape.n << " K " << shape.k;
  }
}

TEST_P(Gemm, BiasActivationAndResidualFollowTheSum) {
  for (const KernelActivation activation : test::kActivations) {
    GemmCase c = make({37, 70, 20});
    const std::vector<float> residual = test::normals(4, 37 * c.c_stride());
    GemmParams p = c.params();
    p.bias_N = c.bias.data();
    p.activation = activation;
    p.residual_MN = residual.data();
    gemm(kernels(), p);
    for (size_t m = 0; m < 37; ++m) {
      for (size_t n = 0; n < 70; ++n) {
        const double x = c.exact(m, n) + double{c.bias[n]};
        const double y = activate(activation, x);
        // Times the sum's error.
        const double slope = activation == KernelActivation::kRelu2 ? std::max(1.0, 2 * x) : 1;
        ASSERT_NEAR(c.result(m, n), y + double{residual[m * c.c_stride() + n]}, slope * tolerance());
      }
    }
    EXPECT_TRUE(c.has_guards());
  }
}

// Sums of zero, so that the bias alone goes through the activation: every power of ten and both signs. The vector code
// is off by 1.5e-7 of the value, or of 1 for smaller values.
TEST_P(Gemm, ActivationsFollowTheirEquationsFarOut) {
  GemmShape shape{3, 64, 16};
  for (const KernelActivation activation : test::kActivations) {
    GemmCase c = make(shape);
    for (size_t n = 0; n < shape.n; ++n) {
      const double size = 1e-6 * std::pow(10.0, static_cast<double>(n / 2) / 4);  // to 60
      c.bias[n] = static_cast<float>(n % 2 == 0 ? size : -size);
    }
    c.clear_a();
    GemmParams p = c.params();
    p.bias_N = c.bias.data();
    p.activation = activation;
    gemm(kernels(), p);
    for (size_t n = 0; n < shape.n; ++n) {
      const double y = activate(activation, double{c.bias[n]});
      ASSERT_NEAR(c.result(1, n), y, 2e-7 * std::max(1.0, std::abs(y)))
          << static_cast<int>(activation) << " of " << c.bias[n];
    }
  }
}

TEST_P(Gemm, ResidualMayBeTheOutputItself) {
  GemmCase c = make({13, 40, 24});
  GemmParams p = c.params();
  const std::vector<float> residual = test::normals(4, 13 * c.c_stride());
  std::copy(residual.begin(), residual.end(), c.c.begin() + 16);
  p.residual_MN = p.c_MN;
  gemm(kernels(), p);
  EXPECT_NEAR(c.result(12, 39), c.exact(12, 39) + double{residual[12 * c.c_stride() + 39]}, tolerance());
}

// Heads cross the borders of panels.
TEST_P(Gemm, SplitsColumnsIntoHeadsOfFp32OrBf16) {
  constexpr size_t kHead = 24, kHeads = 6, kRows = 35, kGap = 7;
  GemmCase c = make({kRows, kHead * kHeads, 48});
  GemmParams p = c.params();
  p.bias_N = c.bias.data();
  gemm(kernels(), p);
  std::vector<float> out(kHeads * (kRows * kHead + kGap), GemmCase::kGuard);
  std::vector<Bf16> out_bf16(out.size(), 0xABCD);
  p.head_size = kHead;
  p.head_stride = kRows * kHead + kGap;
  p.c_MN = out.data();
  gemm(kernels(), p);
  p.c_MN = nullptr;
  p.c_bf16_MN = out_bf16.data();
  gemm(kernels(), p);
  for (size_t head = 0; head < kHeads; ++head) {
    const size_t first = head * p.head_stride;
    for (size_t i = 0; i < kRows * kHead; ++i) {
      const size_t row = i / kHead, column = head * kHead + i % kHead;
      ASSERT_NEAR(out[first + i], c.exact(row, column) + double{c.bias[column]}, 3e-4);
      ASSERT_EQ(out[first + i], c.result(row, column));
      ASSERT_EQ(out_bf16[first + i], to_bf16(c.result(row, column)));
    }
    for (size_t i = kRows * kHead; i < p.head_stride; ++i) {
      ASSERT_EQ(out[first + i], GemmCase::kGuard);
      ASSERT_EQ(out_bf16[first + i], 0xABCD);
    }
  }
}

// The second shape has several blocks of k, shared by several panels.
TEST_P(Gemm, ARowHasTheSameBitsAloneInAnyBatchAndWithAnyThreads) {
  for (const GemmShape& shape : {GemmShape{451, 67, 132}, GemmShape{59, 330, 3111}}) {
    GemmCase c = make(shape);
    gemm(kernels(), c.params());
    const std::vector<float> expected = c.c;
    for (const unsigned threads : {2u, 3u, 7u}) {
      ThreadPool pool(threads);
      GemmParams p = c.params();
      p.parallel = pool.parallel();
      std::fill(c.c.begin(), c.c.end(), GemmCase::kGuard);
      gemm(kernels(), p);
      EXPECT_EQ(std::memcmp(c.c.data(), expected.data(), expected.size() * sizeof(float)), 0) << threads << " threads";
    }
    for (size_t row = 0; row < shape.m; row += row < 2 * 96 ? 1 : 13) {
      gemm(kernels(), c.row_params(row));
      ASSERT_EQ(std::memcmp(c.result_row(0), &expected[16 + row * c.c_stride()], shape.n * sizeof(float)), 0)
          << "K " << shape.k << " row " << row;
    }
  }
}

TEST_P(Gemm, TheProductThatFollowsChangesNoBit) {
  const GemmCase next = GemmCase(select_kernels("auto"), Precision::kFp32, {1, 700, 90});
  const PackedWeights none{};
  for (const size_t rows : {size_t{5}, size_t{200}}) {
    GemmCase c = make({rows, 330, 100});
    gemm(kernels(), c.params());
    const std::vector<float> expected = c.c;
    for (const PackedWeights* weights : {&next.weights(), &none}) {
      ThreadPool pool(3);
      GemmParams p = c.params();
      p.parallel = pool.parallel();
      p.next = weights;
      std::fill(c.c.begin(), c.c.end(), GemmCase::kGuard);
      gemm(kernels(), p);
      EXPECT_EQ(std::memcmp(c.c.data(), expected.data(), expected.size() * sizeof(float)), 0) << rows << " rows";
    }
  }
}

TEST_P(Gemm, RunsAndIsCounted) {
  const auto calls = [&] {
    uint64_t sum = 0;
    for (const KernelCount& count : kernel_counts()) {
      const bool is_this = count.precision == precision() && count.level == GetParam().level;
      if (count.operation == Operation::kGemm && is_this) sum += count.calls;
    }
    return sum;
  };
  const uint64_t before = calls();
  gemm(kernels(), make({3, 4, 5}).params());
  EXPECT_EQ(calls(), before + 1);
}

// int8 carries it in the scale, tested with `quantize`.
class GemmOfFloats : public Gemm {};
INSTANTIATE_TEST_SUITE_P(All, GemmOfFloats,
                         testing::ValuesIn(test::implementations(Operation::kGemm,
                                                                 {Precision::kFp32, Precision::kBf16})),
                         test::kNameOfImplementation);

TEST_P(GemmOfFloats, ANumberThatIsNoneIsNotHidden) {
  GemmCase c = make({20, 40, 40});
  c.set_a(7, 3, kNan);
  GemmParams p = c.params();
  for (const KernelActivation activation : test::kActivations) {
    p.activation = activation;
    gemm(kernels(), p);
    for (size_t m = 0; m < 20; ++m)
      EXPECT_EQ(std::isnan(c.result(m, 0)), m == 7) << m << " of " << static_cast<int>(activation);
  }
}

// A row of [K, N] is followed by NaNs.
TEST_P(GemmOfFloats, ATransposedWeightIsPackedIntoTheSamePanels) {
  for (const GemmShape& shape : test::edge_shapes()) {
    const std::vector<float> w_NK = test::normals(2, shape.n * shape.k);
    const size_t stride = shape.n + 3;
    std::vector<float> w_KN((shape.k - 1) * stride + shape.n, kNan);
    for (size_t at = 0; at < w_NK.size(); ++at) w_KN[at % shape.k * stride + at / shape.k] = w_NK[at];
    const WeightSource plain{.w_NK = w_NK.data(), .outputs = shape.n, .depth = shape.k};
    WeightSource transposed{.outputs = shape.n, .depth = shape.k};
    transposed.w_KN = w_KN.data();
    transposed.w_KN_stride = stride;
    const size_t size_bytes = gemm_packed_bytes(kernels(), precision(), plain);
    ASSERT_EQ(gemm_packed_bytes(kernels(), precision(), transposed), size_bytes);
    Arena arena;
    arena.reserve(2 * size_bytes);
    auto* expected = arena.take<std::byte>(size_bytes);
    auto* panels = arena.take<std::byte>(size_bytes);
    std::memset(expected, 0, 2 * size_bytes);
    gemm_pack(kernels(), precision(), plain, expected);
    ThreadPool pool(2);
    gemm_pack(kernels(), precision(), transposed, panels, pool.parallel());
    ASSERT_EQ(std::memcmp(panels, expected, size_bytes), 0) << "N " << shape.n << " K " << shape.k;
    if (precision() != Precision::kBf16) continue;
    std::vector<Bf16> rounded_KN;
    for (const float w : w_KN) rounded_KN.push_back(to_bf16(w));
    transposed.w_KN = nullptr;
    transposed.w_bf16_KN = rounded_KN.data();
    std::memset(panels, 0, size_bytes);
    gemm_pack(kernels(), precision(), transposed, panels);
    ASSERT_EQ(std::memcmp(panels, expected, size_bytes), 0) << "N " << shape.n << " K " << shape.k << ", in bf16";
  }
}

TEST(GemmInt8, RefusesATransposedWeight) {
  const std::vector<float> w_KN(6, 1.0f);
  WeightSource source{.outputs = 2, .depth = 3};
  source.w_KN = w_KN.data();
  const KernelSet kernels = select_kernels("auto");
  std::vector<std::byte> memory(gemm_packed_bytes(kernels, Precision::kInt8, source));
  EXPECT_ERROR(gemm_pack(kernels, Precision::kInt8, source, memory.data()), kInternal, "packed transposed");
}

TEST(GemmFp32, RefusesAWeightOfBf16) {
  const std::vector<Bf16> w_KN(6);
  WeightSource source{.outputs = 2, .depth = 3};
  source.w_bf16_KN = w_KN.data();
  const KernelSet kernels = select_kernels("auto");
  std::vector<std::byte> memory(gemm_packed_bytes(kernels, Precision::kFp32, source));
  EXPECT_ERROR(gemm_pack(kernels, Precision::kFp32, source, memory.data()), kInternal, "a weight of bf16");
}

TEST_P(Gemm, RefusesWeightsPackedForAnotherImplementation) {
  GemmCase c = make({2, 3, 4});
  GemmParams p = c.params();
  p.weights.level = p.weights.level == KernelLevel::kAmx ? KernelLevel::kAvx2 : KernelLevel::kAmx;
  EXPECT_ERROR(gemm(kernels(), p), kInternal, "packed for another implementation");
}

TEST(GemmLevels, ReferenceAndVectorsDifferInSomeBit) {
  std::vector<std::vector<float>> results;
  const std::vector<Implementation> all = test::implementations(Operation::kGemm, {Precision::kFp32});
  for (const Implementation& candidate : all) {
    GemmCase c(candidate.kernels(), Precision::kFp32, {32, 64, 257});
    gemm(candidate.kernels(), c.params());
    results.push_back(c.c);
  }
  for (size_t i = 1; i < results.size(); ++i) {
    EXPECT_NE(results[i], results[0]) << all[i] << " gives the reference's bits: did it run?";
  }
}

TEST(GemmLevels, CheckReportsTheWorstDifferenceAndWhere) {
  const KernelSet kernels = select_kernels("check");
  GemmCase c(kernels, Precision::kFp32, {8, 64, 257});
  GemmParams p = c.params();
  p.residual_MN = p.c_MN;
  gemm(kernels, p);
  const KernelCheck::Difference good = kernels.check->worst(Operation::kGemm);
  EXPECT_EQ(good.calls, 1u);
  EXPECT_LT(good.worst, 1e-3);
  EXPECT_NE(good.where.find("[M 8, N 64, K 257] row "), std::string::npos) << good.where;
}

TEST(GemmLevels, CheckNoticesAResultThatIsNotANumber) {
  const KernelSet kernels = select_kernels("check");
  GemmCase c(kernels, Precision::kFp32, {8, 64, 31});
  c.set_a(3, 0, kNan);
  gemm(kernels, c.params());
  const KernelCheck::Difference difference = kernels.check->worst(Operation::kGemm);
  EXPECT_EQ(difference.worst, std::numeric_limits<double>::infinity());
  EXPECT_NE(difference.where.find("row 3 "), std::string::npos) << difference.where;
}

TEST(GemmInt8, AllImplementationsGiveTheSameBits) {
  for (const size_t outliers : {size_t{0}, size_t{9}}) {
    std::vector<float> expected;
    for (const Implementation& candidate : test::vector_implementations(Operation::kGemm, {Precision::kInt8})) {
      GemmCase c(candidate.kernels(), Precision::kInt8, {50, 90, 300}, outliers);
      GemmParams p = c.params();
      p.bias_N = c.bias.data();
      gemm(candidate.kernels(), p);
      for (size_t m = 0; m < 50; ++m) {
        for (size_t n = 0; n < 90; ++n) {
          ASSERT_NEAR(c.result(m, n), c.exact(m, n) + double{c.bias[n]}, 3e-4);
        }
      }
      if (expected.empty()) expected = c.c;
      EXPECT_EQ(std::memcmp(c.c.data(), expected.data(), expected.size() * sizeof(float)), 0) << candidate;
    }
  }
}

TEST(GemmInt8, LargestOperandsDoNotSaturate) {
  constexpr size_t kDepth = 4096;
  const std::vector<float> w(17 * kDepth, -1.0f);
  const std::vector<uint8_t> a(33 * kDepth, 255);
  const std::vector<float> scales(33, 1.0f);
  for (const Implementation& candidate : test::implementations(Operation::kGemm, {Precision::kInt8})) {
    const KernelSet kernels = candidate.kernels();
    const WeightSource source{w.data(), 17, kDepth};
    const size_t size_bytes = gemm_packed_bytes(kernels, Precision::kInt8, source);
    Arena arena;
    arena.reserve(size_bytes);
    std::vector<float> c(33 * 17);
    GemmParams p{};
    p.a_MK = a.data();
    p.a_scales_M = scales.data();
    p.rows = 33;
    p.weights = gemm_pack(kernels, Precision::kInt8, source, arena.take<std::byte>(size_bytes));
    p.c_MN = c.data();
    gemm(kernels, p);
    for (const float y : c) ASSERT_NEAR(y, -127.0 * kDepth, 0.5) << candidate;
  }
}

TEST(GemmInt8, NeedsScales) {
  const KernelSet kernels = select_kernels("auto");
  GemmCase c(kernels, Precision::kInt8, {2, 3, 4});
  GemmParams p = c.params();
  p.a_scales_M = nullptr;
  EXPECT_ERROR(gemm(kernels, p), kInternal, "int8 without scales");
}

}  // namespace
}  // namespace deberta::gemm_test
