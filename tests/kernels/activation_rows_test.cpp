// Activations as operations of their own, and their gradients: every implementation that this processor has, against
// double; the slopes against finite differences.
#include "kernels/activation_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/activations.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::activation_rows_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = 12345.5f;

// Off the corners at 0, 6 and where gelu reaches 10.
TEST(ActivationSlope, IsTheFiniteDifference) {
  for (const KernelActivation a : test::kActivations) {
    for (double x = -12.03; x < 12; x += 0.11) {
      constexpr double kStep = 1e-5;
      const double difference = (activate(a, x + kStep) - activate(a, x - kStep)) / (2 * kStep);
      EXPECT_NEAR(activation_slope(a, x), difference, 1e-8) << static_cast<int>(a) << " at " << x;
    }
  }
}

TEST(ActivationSlope, AtCornersIsThatOfTorch) {
  for (const KernelActivation a : {KernelActivation::kRelu, KernelActivation::kRelu2, KernelActivation::kRelu6}) {
    EXPECT_EQ(activation_slope(a, 0), 0);
    EXPECT_EQ(activation_slope(a, -0.0), 0);
  }
  EXPECT_EQ(activation_slope(KernelActivation::kRelu6, 6), 0);
  EXPECT_EQ(activation_slope(KernelActivation::kLeakyRelu, 0), 0.01);
  EXPECT_EQ(activation_slope(KernelActivation::kGelu10, 10.5), 0);
  EXPECT_NEAR(activation_slope(KernelActivation::kGelu, 1), 1.0833154705876863, 1e-15);
}

class ActivationRows : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }

  std::vector<float> run(KernelActivation a, const std::vector<float>& x, const Parallel& parallel = serial()) const {
    std::vector<float> y(x.size() + 2, kGuard);
    ActivationParams p{};
    p.activation = a;
    p.x = x.data();
    p.y = y.data() + 1;
    p.count = x.size();
    p.parallel = parallel;
    activation(kernels(), p);
    EXPECT_TRUE(y.front() == kGuard && y.back() == kGuard);
    return {y.begin() + 1, y.end() - 1};
  }
  std::vector<float> run_gradient(KernelActivation a, const std::vector<float>& x, const std::vector<float>& dy,
                                  const Parallel& parallel = serial()) const {
    std::vector<float> dx(x.size() + 2, kGuard);
    ActivationGradientParams p{};
    p.activation = a;
    p.x = x.data();
    p.dy = dy.data();
    p.dx = dx.data() + 1;
    p.count = x.size();
    p.parallel = parallel;
    activation_gradient(kernels(), p);
    EXPECT_TRUE(dx.front() == kGuard && dx.back() == kGuard);
    return {dx.begin() + 1, dx.end() - 1};
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, ActivationRows, testing::ValuesIn(test::levels_of(Operation::kActivation)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

// Every power of ten with both signs, 0, and what lies between -10 and 10.
std::vector<float> all_sizes() {
  std::vector<float> x = {0.0f, -0.0f, 6.0f};
  for (double size = 1e-30; size < 1e30; size *= 3) {
    x.push_back(static_cast<float>(size));
    x.push_back(static_cast<float>(-size));
  }
  for (int i = -1000; i <= 1000; ++i) x.push_back(static_cast<float>(i) * 0.01f + 0.003f);
  return x;
}

TEST_P(ActivationRows, FollowTheEquationsForAllSizes) {
  const std::vector<float> x = all_sizes();
  for (const KernelActivation a : test::kActivations) {
    const std::vector<float> y = run(a, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto exact = static_cast<float>(activate(a, double{x[i]}));
      if (!std::isfinite(exact)) continue;  // the square of a number beyond 1e19
      ASSERT_NEAR(y[i], exact, 2e-7f * std::max(1.0f, std::abs(exact))) << static_cast<int>(a) << " of " << x[i];
    }
  }
}

TEST_P(ActivationRows, GradientsFollowTheSlopesForAllSizes) {
  std::vector<float> x = all_sizes();
  x.push_back(std::numeric_limits<float>::max());
  x.push_back(-std::numeric_limits<float>::max());
  const std::vector<float> ones(x.size(), 1.0f), dy = test::normals(1, x.size());
  for (const KernelActivation a : test::kActivations) {
    const std::vector<float> slopes = run_gradient(a, x, ones), dx = run_gradient(a, x, dy);
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = activation_slope(a, double{x[i]});
      if (!std::isfinite(static_cast<float>(10 * exact))) continue;
      const double most = 2e-7 * std::max(1.0, std::abs(exact));
      ASSERT_NEAR(slopes[i], exact, most) << static_cast<int>(a) << " at " << x[i];
      ASSERT_NEAR(dx[i], double{dy[i]} * exact, std::abs(double{dy[i]}) * most)
          << static_cast<int>(a) << " at " << x[i];
    }
  }
}

TEST_P(ActivationRows, ReadAndWriteBf16AsIfItWereFp32) {
  for (const size_t count : {size_t{1}, size_t{17}, size_t{4095}, size_t{9001}}) {
    std::vector<float> x = test::normals(1, count, 3);
    const std::vector<float> dy = test::normals(2, count);
    std::vector<Bf16> x_bf16, y_bf16(count + 1, 0xABCD);
    for (float& number : x) {
      x_bf16.push_back(to_bf16(number));
      number = from_bf16(x_bf16.back());
    }
    for (const KernelActivation a : {KernelActivation::kGelu, KernelActivation::kTanh}) {
      const std::vector<float> y = run(a, x), dx = run_gradient(a, x, dy);
      activation(kernels(), {.activation = a, .x_bf16 = x_bf16.data(), .y_bf16 = y_bf16.data(), .count = count});
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(y_bf16[i], to_bf16(y[i])) << i;
      EXPECT_EQ(y_bf16[count], 0xABCD);
      std::vector<float> got(count);
      activation_gradient(
          kernels(), {.activation = a, .x_bf16 = x_bf16.data(), .dy = dy.data(), .dx = got.data(), .count = count});
      EXPECT_EQ(got, dx);
    }
  }
}

TEST_P(ActivationRows, WorkForAllCountsInPlaceAndWithAnyThreads) {
  for (const size_t count : {size_t{1}, size_t{7}, size_t{8}, size_t{15}, size_t{16}, size_t{17}, size_t{63},
                             size_t{65}, size_t{4095}, size_t{4097}, size_t{9000}}) {
    const std::vector<float> x = test::normals(1, count, 3), dy = test::normals(2, count);
    for (const KernelActivation a : {KernelActivation::kGelu, KernelActivation::kTanh}) {
      const std::vector<float> y = run(a, x), dx = run_gradient(a, x, dy);
      ASSERT_NEAR(y[count - 1], activate(a, double{x[count - 1]}), 1e-6);
      for (const unsigned threads : {2u, 3u}) {
        ThreadPool pool(threads);
        EXPECT_EQ(run(a, x, pool.parallel()), y) << threads << " threads";
        EXPECT_EQ(run_gradient(a, x, dy, pool.parallel()), dx) << threads << " threads";
      }
      std::vector<float> in_place = x;
      activation(kernels(), {.activation = a, .x = in_place.data(), .y = in_place.data(), .count = count});
      EXPECT_EQ(in_place, y);
      in_place = dy;
      activation_gradient(
          kernels(), {.activation = a, .x = x.data(), .dy = in_place.data(), .dx = in_place.data(), .count = count});
      EXPECT_EQ(in_place, dx);
    }
  }
}

TEST_P(ActivationRows, ANumberThatIsNoneIsNotHidden) {
  for (const KernelActivation a : test::kActivations) {
    EXPECT_TRUE(std::isnan(run(a, {1, 2, kNan})[2])) << static_cast<int>(a);
    EXPECT_TRUE(std::isnan(run_gradient(a, {1, 2, 3}, {1, 1, kNan})[2])) << static_cast<int>(a);
  }
}

TEST(ActivationRowsArguments, AreChecked) {
  float x = 1;
  EXPECT_ERROR(activation(select_kernels("auto"), {.x = &x, .count = 1}), kInternal, "activation: a null pointer");
  EXPECT_ERROR(activation_gradient(select_kernels("auto"), {.x = &x, .dx = &x, .count = 1}), kInternal,
               "activation: a null pointer");
}

TEST(ActivationRowsArguments, CheckComparesBoth) {
  const KernelSet kernels = select_kernels("check");
  std::vector<float> x = test::normals(1, 500), dx = x;
  activation_gradient(
      kernels, {.activation = KernelActivation::kGelu, .x = x.data(), .dy = dx.data(), .dx = dx.data(), .count = 500});
  activation(kernels, {.activation = KernelActivation::kGelu, .x = x.data(), .y = x.data(), .count = 500});
  const KernelCheck::Difference difference = kernels.check->worst(Operation::kActivation);
  EXPECT_EQ(difference.calls, 2u);
  EXPECT_LT(difference.worst, 3e-6);
  EXPECT_NE(difference.where.find(" of 500"), std::string::npos) << difference.where;
}

}  // namespace
}  // namespace deberta::activation_rows_test
