// Sums of squares in one order.
#include "kernels/sum_of_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "support/random.h"

namespace deberta::sum_of_squares_test {
namespace {

TEST(SumOfSquares, IsThatOfAPlainLoopForAllCounts) {
  const std::vector<float> x = test::normals(1, 20000);
  EXPECT_EQ(sum_of_squares(x.data(), 0), 0);
  std::vector<size_t> counts = {4095, 4096, 4097, 8191, 12289, 20000};
  for (size_t count = 1; count < 40; ++count) counts.push_back(count);
  for (const size_t count : counts) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += double{x[i]} * double{x[i]};
    EXPECT_NEAR(sum_of_squares(x.data(), count), sum, 1e-13 * sum) << count;
  }
}

// More than 256 blocks of 4096, so that blocks grow.
TEST(SumOfSquares, HasTheSameBitsWithAnyThreads) {
  for (const size_t count : {size_t{100000}, size_t{2200001}}) {
    std::vector<float> x(count);
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      x[i] = static_cast<float>(i % 1009) * 1e-3f + 1e-7f * static_cast<float>(i % 7);
      sum += double{x[i]} * double{x[i]};
    }
    const double expected = sum_of_squares(x.data(), count);
    EXPECT_NEAR(expected, sum, 1e-12 * sum);
    for (const unsigned threads : {1u, 2u, 3u}) {
      ThreadPool pool(threads);
      EXPECT_EQ(sum_of_squares(x.data(), count, pool.parallel()), expected) << threads << " threads";
    }
  }
}

TEST(SumOfSquares, IsFiniteExactlyWhenAllNumbersAre) {
  std::vector<float> x(5000, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(sum_of_squares(x.data(), x.size())));
  for (const float none : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity()}) {
    for (const size_t at : {size_t{0}, size_t{4097}, size_t{4999}}) {
      std::vector<float> y = x;
      y[at] = none;
      EXPECT_FALSE(std::isfinite(sum_of_squares(y.data(), y.size())));
    }
  }
}

}  // namespace
}  // namespace deberta::sum_of_squares_test
