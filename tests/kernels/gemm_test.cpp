// GEMM: every implementation that this processor has, against sums in double, over one table of shapes.
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/thread_pool.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace deberta {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = 12345.5f;

struct Shape {
  size_t m, n, k;
};

// The levels with an fp32 tile of their own.
std::vector<KernelLevel> fp32_levels() {
  std::vector<KernelLevel> levels = available_levels();
  std::erase_if(levels, [](KernelLevel level) { return level > KernelLevel::kAvx512; });
  return levels;
}

std::vector<Shape> shapes() {
  std::vector<Shape> cases;
  for (size_t m = 1; m <= 13; ++m) cases.push_back({m, 70, 37});
  for (const size_t m : {size_t{95}, size_t{96}, size_t{97}, size_t{193}}) cases.push_back({m, 65, 17});
  for (size_t n = 1; n <= 130; ++n) cases.push_back({7, n, 33});
  for (const unsigned k : {1u, 2u, 3u, 5u, 63u, 64u, 65u, 127u, 769u}) cases.push_back({5, 48, k});
  return cases;
}

// A with NaN between its rows, W, bias, residual; C with guards around each row.
struct Problem {
  Shape s;
  size_t a_stride, c_stride;
  std::vector<float> a, w, bias, residual, c;
  Arena arena;
  PackedWeights packed;

  Problem(const KernelSet& kernels, Shape shape) : s(shape), a_stride(s.k + 3), c_stride(s.n + 5) {
    a.assign(1 + s.m * a_stride, kNan);  // begins one element off any alignment
    const auto values = test::normals(1, s.m * s.k);
    for (size_t i = 0; i < s.m; ++i) std::copy_n(&values[i * s.k], s.k, &a[1 + i * a_stride]);
    a.resize(1 + (s.m - 1) * a_stride + s.k);  // no element after the last row
    w = test::normals(2, s.n * s.k);
    bias = test::normals(3, s.n);
    residual = test::normals(4, s.m * c_stride);
    c.assign(16 + s.m * c_stride + 16, kGuard);
    const WeightSource source{w.data(), s.n, s.k};
    const size_t size_bytes = gemm_packed_bytes(kernels, Precision::kFp32, source);
    arena.reserve(Arena::bytes_for<std::byte>(size_bytes));
    packed = gemm_pack(kernels, Precision::kFp32, source, arena.take<std::byte>(size_bytes));
  }

  GemmParams params() {
    GemmParams p{};
    p.a_MK = a.data() + 1;
    p.a_stride = a_stride;
    p.rows = s.m;
    p.weights = packed;
    p.c_MN = c.data() + 16;
    p.c_stride = c_stride;
    return p;
  }

  double exact(size_t i, size_t n) const {
    double sum = 0;
    for (size_t k = 0; k < s.k; ++k) sum += double{a[1 + i * a_stride + k]} * double{w[n * s.k + k]};
    return sum;
  }
  float naive(size_t i, size_t n) const {
    float sum = 0;
    for (size_t k = 0; k < s.k; ++k) sum += a[1 + i * a_stride + k] * w[n * s.k + k];
    return sum;
  }
  float result(size_t i, size_t n) const { return c[16 + i * c_stride + n]; }

  void expect_guards() const {
    for (size_t at = 0; at < c.size(); ++at) {
      const size_t column = at < 16 ? s.n : (at - 16) % c_stride;
      const bool is_output = at >= 16 && column < s.n && (at - 16) / c_stride < s.m;
      if (is_output) continue;
      ASSERT_EQ(c[at], kGuard) << "written outside the output at " << at;
    }
  }
};

class Gemm : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, Gemm, testing::ValuesIn(fp32_levels()),
                         [](const auto& level) { return std::string(to_string(level.param)); });

TEST_P(Gemm, ErrorIsAtMostTwiceThatOfTheNaiveSumOverAllShapes) {
  for (const Shape shape : shapes()) {
    Problem problem(kernels(), shape);
    gemm(kernels(), problem.params());
    double error = 0, naive_error = 0;
    for (size_t i = 0; i < shape.m; ++i) {
      for (size_t n = 0; n < shape.n; ++n) {
        const double exact = problem.exact(i, n);
        ASSERT_TRUE(std::isfinite(problem.result(i, n)));
        error = std::max(error, std::abs(double{problem.result(i, n)} - exact));
        naive_error = std::max(naive_error, std::abs(double{problem.naive(i, n)} - exact));
      }
    }
    EXPECT_LE(error, 2 * naive_error + 1e-5) << "M " << shape.m << " N " << shape.n << " K " << shape.k;
    problem.expect_guards();
  }
}

TEST_P(Gemm, BiasActivationAndResidualFollowTheSum) {
  const KernelActivation all[] = {KernelActivation::kLinear, KernelActivation::kGelu, KernelActivation::kRelu,
                                  KernelActivation::kSwish,  KernelActivation::kTanh, KernelActivation::kSigmoid};
  for (const KernelActivation activation : all) {
    Problem problem(kernels(), {9, 70, 20});
    GemmParams p = problem.params();
    p.bias_N = problem.bias.data();
    p.activation = activation;
    p.residual_MN = problem.residual.data();
    gemm(kernels(), p);
    for (size_t i = 0; i < 9; ++i) {
      for (size_t n = 0; n < 70; ++n) {
        const double y = activate(activation, problem.exact(i, n) + double{problem.bias[n]});
        EXPECT_NEAR(problem.result(i, n), y + double{problem.residual[i * problem.c_stride + n]}, 1e-5);
      }
    }
    problem.expect_guards();
  }
}

TEST_P(Gemm, ResidualMayBeTheOutputItself) {
  Problem problem(kernels(), {13, 40, 24});
  GemmParams p = problem.params();
  std::copy(problem.residual.begin(), problem.residual.end(), problem.c.begin() + 16);
  p.residual_MN = p.c_MN;
  gemm(kernels(), p);
  EXPECT_NEAR(problem.result(12, 39), problem.exact(12, 39) + double{problem.residual[12 * problem.c_stride + 39]},
              1e-5);
}

TEST_P(Gemm, SplitsColumnsIntoHeads) {
  constexpr size_t kHead = 24, kHeads = 6, kRows = 11;  // heads cross the borders of panels
  Problem problem(kernels(), {kRows, kHead * kHeads, 16});
  std::vector<float> out(kHeads * (kRows * kHead + 7), kGuard);
  GemmParams p = problem.params();
  p.c_MN = out.data();
  p.head_size = kHead;
  p.head_stride = kRows * kHead + 7;
  gemm(kernels(), p);
  for (size_t head = 0; head < kHeads; ++head) {
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t k = 0; k < kHead; ++k) {
        EXPECT_NEAR(out[head * p.head_stride + i * kHead + k], problem.exact(i, head * kHead + k), 1e-5);
      }
    }
    for (size_t i = 0; i < 7; ++i) EXPECT_EQ(out[head * p.head_stride + kRows * kHead + i], kGuard);
  }
}

TEST_P(Gemm, ARowHasTheSameBitsAloneInAnyBatchAndWithAnyThreads) {
  const Shape shape{193, 67, 129};
  Problem whole(kernels(), shape);
  gemm(kernels(), whole.params());
  for (const unsigned threads : {2u, 3u, 7u}) {
    ThreadPool pool(threads);
    Problem again(kernels(), shape);
    GemmParams p = again.params();
    p.parallel = pool.parallel();
    gemm(kernels(), p);
    EXPECT_EQ(std::memcmp(again.c.data(), whole.c.data(), whole.c.size() * sizeof(float)), 0) << threads << " threads";
  }
  for (size_t row = 0; row < shape.m; ++row) {
    Problem alone(kernels(), shape);
    GemmParams p = alone.params();
    p.a_MK = alone.a.data() + 1 + row * alone.a_stride;
    p.rows = 1;
    gemm(kernels(), p);
    ASSERT_EQ(std::memcmp(&alone.c[16], &whole.c[16 + row * whole.c_stride], shape.n * sizeof(float)), 0)
        << "row " << row;
  }
}

TEST_P(Gemm, RefusesWeightsPackedForAnotherImplementation) {
  Problem problem(kernels(), {2, 3, 4});
  GemmParams p = problem.params();
  p.weights.level = KernelLevel::kAmx;
  EXPECT_ERROR(gemm(kernels(), p), kInternal, "packed for another implementation");
}

TEST(GemmLevels, ReferenceAndVectorsDifferInSomeBit) {
  std::vector<std::vector<float>> results;
  for (const KernelLevel level : fp32_levels()) {
    const KernelSet kernels = select_kernels(to_string(level));
    Problem problem(kernels, {32, 64, 257});
    gemm(kernels, problem.params());
    results.push_back(problem.c);
  }
  if (results.size() == 1) return;
  for (size_t i = 1; i < results.size(); ++i) {
    EXPECT_NE(results[i], results[0]) << to_string(fp32_levels()[i]) << " gives the reference's bits: did it run?";
  }
}

TEST(GemmLevels, CheckReportsTheWorstDifferenceAndWhere) {
  const KernelSet kernels = select_kernels("check");
  Problem problem(kernels, {8, 64, 257});
  GemmParams p = problem.params();
  p.residual_MN = p.c_MN;
  gemm(kernels, p);
  const KernelCheck::Difference good = kernels.check->worst(Operation::kGemm);
  EXPECT_EQ(good.calls, 1u);
  EXPECT_LT(good.worst, 1e-3);
  EXPECT_NE(good.where.find("[M 8, N 64, K 257] row "), std::string::npos) << good.where;
}

TEST(GemmLevels, CheckNoticesAResultThatIsNotANumber) {
  const KernelSet kernels = select_kernels("check");
  Problem problem(kernels, {8, 64, 31});
  problem.a[1 + 3 * problem.a_stride] = kNan;
  gemm(kernels, problem.params());
  const KernelCheck::Difference found = kernels.check->worst(Operation::kGemm);
  EXPECT_EQ(found.worst, std::numeric_limits<double>::infinity());
  EXPECT_NE(found.where.find("row 3 "), std::string::npos) << found.where;
}

}  // namespace
}  // namespace deberta
