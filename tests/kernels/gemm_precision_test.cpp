// GEMM in bf16 and int8: every implementation that this processor has, against sums in double of the rounded operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/arena.h"
#include "base/thread_pool.h"
#include "kernels/gemm.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace deberta {
namespace {

constexpr float kGuard = 12345.5f;

struct Shape {
  size_t m, n, k;
};

std::vector<Shape> shapes() {
  std::vector<Shape> cases;
  for (size_t m = 1; m <= 13; ++m) cases.push_back({m, 70, 37});
  for (const unsigned m : {15u, 16u, 17u, 31u, 32u, 33u, 95u, 96u, 97u, 257u}) cases.push_back({m, 65, 17});
  for (size_t n = 1; n <= 130; ++n) cases.push_back({7, n, 33});
  for (const unsigned k : {1u, 2u, 3u, 5u, 31u, 32u, 33u, 63u, 64u, 65u, 127u, 513u, 769u}) cases.push_back({5, 48, k});
  return cases;
}

size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Operands of a precision, kept as the numbers they stand for. Memory ends with the last row's padding.
class Problem {
 public:
  Problem(const KernelSet& kernels, Precision precision, Shape shape, size_t outliers = 0)
      : s(shape), precision_(precision), a_stride_(round_up(shape.k, 4) + 4) {
    w_ = test::normals(2, s.n * s.k);
    bias = test::normals(3, s.n);
    const auto a = test::normals(1, s.m * s.k);
    for (size_t o = 0; o < outliers; ++o) outliers_.push_back(static_cast<int32_t>(o * s.k / outliers));
    reciprocal_.assign(s.k, 1.0f);
    for (const int32_t k : outliers_) reciprocal_[static_cast<size_t>(k)] = 0;
    const WeightSource source{w_.data(), s.n, s.k, {reciprocal_.data(), outliers_.data(), outliers}};
    const size_t size_bytes = gemm_packed_bytes(kernels, precision, source);
    arena_.reserve(Arena::bytes_for<std::byte>(size_bytes));
    packed_ = gemm_pack(kernels, precision, source, arena_.take<std::byte>(size_bytes));
    for (size_t n = 0; n < s.n; ++n) w_scales_.push_back(find_scale(n));
    precision == Precision::kBf16 ? round_operands(a) : quantize_operands(a);
    c.assign(s.m * s.n, kGuard);
  }

  GemmParams params() {
    GemmParams p{};
    p.a_MK = precision_ == Precision::kBf16 ? static_cast<const void*>(a_bf16_.data()) : a_u8_.data();
    p.a_stride = a_stride_;
    p.a_scales_M = scales_.data();
    p.a_outliers_MO = side_.data();
    p.rows = s.m;
    p.weights = packed_;
    p.c_MN = c.data();
    return p;
  }

  double exact(size_t m, size_t n) const {
    double sum = 0;
    for (size_t k = 0; k < s.k; ++k) sum += a_at(m, k) * w_at(n, k);
    return sum;
  }
  float naive(size_t m, size_t n) const {
    float sum = 0;
    for (size_t k = 0; k < s.k; ++k) sum += static_cast<float>(a_at(m, k)) * static_cast<float>(w_at(n, k));
    return sum;
  }

  Shape s;
  std::vector<float> bias, c;

 private:
  bool is_outlier(size_t k) const {
    return std::find(outliers_.begin(), outliers_.end(), static_cast<int32_t>(k)) != outliers_.end();
  }
  double a_at(size_t m, size_t k) const {
    const size_t at = m * a_stride_ + k;
    if (precision_ == Precision::kBf16) return double{from_bf16(a_bf16_[at])};
    if (is_outlier(k)) return double{from_bf16(to_bf16(a_values_[m * s.k + k]))};
    return (a_u8_[at] - 128) * double{scales_[m]};
  }
  double w_at(size_t n, size_t k) const {
    const float w = w_[n * s.k + k];
    if (precision_ == Precision::kBf16 || is_outlier(k)) return double{from_bf16(to_bf16(w))};
    const float scale = w_scales_[n];
    return std::nearbyint(w / scale) * double{scale};
  }
  float find_scale(size_t n) const {
    float largest = 0;
    for (size_t k = 0; k < s.k; ++k) {
      if (!is_outlier(k)) largest = std::max(largest, std::abs(w_[n * s.k + k]));
    }
    return largest > 0 ? largest / 127 : 1;
  }
  void round_operands(const std::vector<float>& a) {
    a_bf16_.assign((s.m - 1) * a_stride_ + round_up(s.k, 2), 0);
    for (size_t m = 0; m < s.m; ++m) {
      for (size_t k = 0; k < s.k; ++k) a_bf16_[m * a_stride_ + k] = to_bf16(a[m * s.k + k]);
    }
  }
  void quantize_operands(const std::vector<float>& a) {
    a_values_ = a;
    a_u8_.assign((s.m - 1) * a_stride_ + round_up(s.k, 4), 77);  // what stands behind K must not matter
    for (size_t m = 0; m < s.m; ++m) {
      scales_.push_back(0.01f * static_cast<float>(m + 1));
      for (size_t k = 0; k < s.k; ++k) {
        const double q = std::clamp(std::nearbyint(double{a[m * s.k + k]} * 40), -127.0, 127.0);
        a_u8_[m * a_stride_ + k] = is_outlier(k) ? uint8_t{128} : static_cast<uint8_t>(q + 128);
      }
      for (const int32_t o : outliers_) side_.push_back(to_bf16(a[m * s.k + static_cast<size_t>(o)]));
    }
  }

  Precision precision_;
  size_t a_stride_;
  std::vector<float> w_, reciprocal_, w_scales_, a_values_, scales_;
  std::vector<Bf16> a_bf16_, side_;
  std::vector<uint8_t> a_u8_;
  std::vector<int32_t> outliers_;
  Arena arena_;
  PackedWeights packed_;
};

using Case = std::tuple<Precision, KernelLevel>;

// Each implementation once: caps that choose the same one are left out.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Precision precision : {Precision::kBf16, Precision::kInt8}) {
    for (const KernelLevel level : available_levels()) {
      if (select_kernels(to_string(level)).level_of(Operation::kGemm, precision) == level) {
        all.emplace_back(precision, level);
      }
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return std::string(to_string(std::get<0>(info.param))) + "_" + std::string(to_string(std::get<1>(info.param)));
}

class GemmPrecision : public testing::TestWithParam<Case> {
 protected:
  Precision precision() const { return std::get<0>(GetParam()); }
  KernelSet kernels() const { return select_kernels(to_string(std::get<1>(GetParam()))); }
};
INSTANTIATE_TEST_SUITE_P(All, GemmPrecision, testing::ValuesIn(cases()), name_of);

TEST_P(GemmPrecision, ErrorIsAtMostTwiceThatOfTheNaiveSumOverAllShapes) {
  for (const Shape shape : shapes()) {
    Problem problem(kernels(), precision(), shape);
    gemm(kernels(), problem.params());
    double error = 0, naive_error = 0;
    for (size_t m = 0; m < shape.m; ++m) {
      for (size_t n = 0; n < shape.n; ++n) {
        const double exact = problem.exact(m, n);
        error = std::max(error, std::abs(double{problem.c[m * shape.n + n]} - exact));
        naive_error = std::max(naive_error, std::abs(double{problem.naive(m, n)} - exact));
      }
    }
    EXPECT_LE(error, 2 * naive_error + 1e-5) << "M " << shape.m << " N " << shape.n << " K " << shape.k;
  }
}

TEST_P(GemmPrecision, EpilogueFollowsTheSum) {
  for (const KernelActivation activation :
       {KernelActivation::kLinear, KernelActivation::kGelu, KernelActivation::kRelu, KernelActivation::kTanh}) {
    Problem problem(kernels(), precision(), {37, 70, 20});
    const std::vector<float> residual = test::normals(4, problem.c.size());
    GemmParams p = problem.params();
    p.bias_N = problem.bias.data();
    p.activation = activation;
    p.residual_MN = residual.data();
    gemm(kernels(), p);
    for (size_t i = 0; i < problem.c.size(); ++i) {
      const double y = activate(activation, problem.exact(i / 70, i % 70) + double{problem.bias[i % 70]});
      ASSERT_NEAR(problem.c[i], y + double{residual[i]}, 2e-5);
    }
  }
}

TEST_P(GemmPrecision, StoresBf16ByHeads) {
  constexpr size_t kHead = 24, kHeads = 6, kRows = 35, kGap = 3;
  Problem problem(kernels(), precision(), {kRows, kHead * kHeads, 48});
  std::vector<float> rows(problem.c);
  GemmParams p = problem.params();
  p.bias_N = problem.bias.data();
  gemm(kernels(), p);
  std::vector<Bf16> out(kHeads * (kRows * kHead + kGap), 0xABCD);
  p.c_MN = nullptr;
  p.c_bf16_MN = out.data();
  p.head_size = kHead;
  p.head_stride = kRows * kHead + kGap;
  gemm(kernels(), p);
  for (size_t head = 0; head < kHeads; ++head) {
    for (size_t i = 0; i < kRows * kHead; ++i) {
      const float expected = problem.c[i / kHead * kHead * kHeads + head * kHead + i % kHead];
      ASSERT_EQ(out[head * p.head_stride + i], to_bf16(expected));
    }
    for (size_t i = 0; i < kGap; ++i) ASSERT_EQ(out[head * p.head_stride + kRows * kHead + i], 0xABCD);
  }
}

TEST_P(GemmPrecision, ARowHasTheSameBitsAloneInAnyBatchAndWithAnyThreads) {
  const Shape shape{451, 67, 132};
  Problem whole(kernels(), precision(), shape);
  gemm(kernels(), whole.params());
  const std::vector<float> expected = whole.c;
  for (const unsigned threads : {2u, 3u, 7u}) {
    ThreadPool pool(threads);
    GemmParams p = whole.params();
    p.parallel = pool.parallel();
    gemm(kernels(), p);
    EXPECT_EQ(std::memcmp(whole.c.data(), expected.data(), expected.size() * sizeof(float)), 0) << threads;
  }
  for (size_t row = 0; row < shape.m; row += 13) {
    GemmParams p = whole.params();
    const size_t element = precision() == Precision::kBf16 ? sizeof(Bf16) : 1;
    p.a_MK = static_cast<const std::byte*>(p.a_MK) + row * p.a_stride * element;
    p.a_scales_M = p.a_scales_M + (precision() == Precision::kInt8 ? row : 0);
    p.rows = 1;
    gemm(kernels(), p);
    ASSERT_EQ(std::memcmp(whole.c.data(), &expected[row * shape.n], shape.n * sizeof(float)), 0) << "row " << row;
  }
}

TEST_P(GemmPrecision, RunsAndIsCounted) {
  const auto calls = [&] {
    uint64_t sum = 0;
    for (const KernelCount& count : kernel_counts()) {
      if (count.operation == Operation::kGemm && count.precision == precision() &&
          count.level == std::get<1>(GetParam())) {
        sum += count.calls;
      }
    }
    return sum;
  };
  const uint64_t before = calls();
  Problem problem(kernels(), precision(), {3, 4, 5});
  gemm(kernels(), problem.params());
  EXPECT_EQ(calls(), before + 1);
}

TEST_P(GemmPrecision, ANumberThatIsNoneIsNotHidden) {
  if (precision() != Precision::kBf16) return;  // int8 carries it in the scale, tested with `quantize`
  Problem problem(kernels(), precision(), {20, 40, 40});
  GemmParams p = problem.params();
  std::vector<Bf16> a(20 * p.a_stride, to_bf16(1.0f));
  a[7 * p.a_stride + 3] = to_bf16(std::numeric_limits<float>::quiet_NaN());
  p.a_MK = a.data();
  for (const KernelActivation activation : {KernelActivation::kLinear, KernelActivation::kGelu}) {
    p.activation = activation;
    gemm(kernels(), p);
    for (size_t m = 0; m < 20; ++m) EXPECT_EQ(std::isnan(problem.c[m * 40]), m == 7) << m;
  }
}

TEST(GemmInt8, AllImplementationsGiveTheSameBits) {
  for (const size_t outliers : {size_t{0}, size_t{9}}) {
    std::vector<float> expected;
    for (const auto& [precision, level] : cases()) {
      if (precision != Precision::kInt8 || level == KernelLevel::kReference) continue;
      const KernelSet kernels = select_kernels(to_string(level));
      Problem problem(kernels, Precision::kInt8, {50, 90, 300}, outliers);
      GemmParams p = problem.params();
      p.bias_N = problem.bias.data();
      gemm(kernels, p);
      for (size_t i = 0; i < problem.c.size(); ++i) {
        ASSERT_NEAR(problem.c[i], problem.exact(i / 90, i % 90) + double{problem.bias[i % 90]}, 3e-4);
      }
      if (expected.empty()) expected = problem.c;
      EXPECT_EQ(std::memcmp(problem.c.data(), expected.data(), expected.size() * sizeof(float)), 0) << to_string(level);
    }
  }
}

TEST(GemmInt8, LargestOperandsDoNotSaturate) {
  constexpr size_t kDepth = 4096;
  const std::vector<float> w(17 * kDepth, -1.0f);
  const std::vector<uint8_t> a(33 * kDepth, 255);
  const std::vector<float> scales(33, 1.0f);
  for (const auto& [precision, level] : cases()) {
    if (precision != Precision::kInt8) continue;
    const KernelSet kernels = select_kernels(to_string(level));
    const WeightSource source{w.data(), 17, kDepth};
    Arena arena;
    arena.reserve(gemm_packed_bytes(kernels, precision, source) + 64);
    std::vector<float> c(33 * 17);
    GemmParams p{};
    p.a_MK = a.data();
    p.a_scales_M = scales.data();
    p.rows = 33;
    p.weights =
        gemm_pack(kernels, precision, source, arena.take<std::byte>(gemm_packed_bytes(kernels, precision, source)));
    p.c_MN = c.data();
    gemm(kernels, p);
    for (const float y : c) ASSERT_NEAR(y, -127.0 * kDepth, 0.5) << to_string(level);
  }
}

TEST(GemmInt8, NeedsScales) {
  const KernelSet kernels = select_kernels("auto");
  Problem problem(kernels, Precision::kInt8, {2, 3, 4});
  GemmParams p = problem.params();
  p.a_scales_M = nullptr;
  EXPECT_ERROR(gemm(kernels, p), kInternal, "int8 without scales");
}

}  // namespace
}  // namespace deberta
