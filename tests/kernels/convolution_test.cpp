// Convolution against a version that first pads and masks a copy; borders, masks, groups, threads.
#include "kernels/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/thread_pool.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::convolution_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct ConvolutionCase {
  std::vector<int32_t> lengths = {7};
  size_t columns = 6, width = 3, groups = 1;
  KernelActivation activation = KernelActivation::kTanh;
  std::vector<uint8_t> mask;

  std::vector<int32_t> starts;
  std::vector<float> x, weight, bias, y, scratch;
  Arena arena;
  std::vector<PackedWeights> packed;

  void fill() {
    starts = {0};
    for (const int32_t length : lengths) starts.push_back(starts.back() + length);
    x = test::normals(1, rows() * columns);
    weight = test::normals(2, columns * (columns / groups) * width, 0.4);
    bias = test::normals(3, columns, 0.5);
    y.assign(rows() * columns + 8, 9.0f);
  }
  size_t rows() const { return static_cast<size_t>(starts.back()); }

  // Scratch starts as NaN and is exactly as large as requested.
  ConvolutionParams params(const KernelSet& kernels, const Parallel& parallel = serial()) {
    ConvolutionParams p{};
    p.shape = {columns, width, groups};
    const size_t size_bytes = convolution_packed_bytes(kernels, p.shape);
    arena.reserve(Arena::bytes_for<std::byte>(size_bytes));
    arena.reset();
    packed = convolution_pack(kernels, p.shape, weight.data(), arena.take<std::byte>(size_bytes));
    p.packed_G = packed.data();
    scratch.assign(convolution_scratch_count(kernels, p.shape, rows(), parallel.workers), kNan);
    p.scratch = scratch.data();
    p.parallel = parallel;
    p.x_TD = x.data();
    p.mask_T = mask.empty() ? nullptr : mask.data();
    p.starts = starts.data();
    p.sequences = lengths.size();
    p.weight_DGW = weight.data();
    p.bias_D = bias.data();
    p.activation = activation;
    p.y_TD = y.data();
    return p;
  }

  bool is_masked(size_t row) const { return !mask.empty() && mask[row] == 0; }

  // One sequence with zeros around it and in its masked positions.
  std::vector<double> padded(size_t sequence) const {
    const size_t side = width / 2;
    const auto first = static_cast<size_t>(starts[sequence]);
    const auto length = static_cast<size_t>(lengths[sequence]);
    std::vector<double> result((length + 2 * side) * columns, 0.0);
    for (size_t t = 0; t < length; ++t) {
      if (is_masked(first + t)) continue;
      for (size_t d = 0; d < columns; ++d) result[(side + t) * columns + d] = double{x[(first + t) * columns + d]};
    }
    return result;
  }

  void expect_agreement(const char* what) const {
    const size_t part = columns / groups;
    for (size_t b = 0; b < lengths.size(); ++b) {
      const std::vector<double> input = padded(b);
      for (size_t t = 0; t < static_cast<size_t>(lengths[b]); ++t) {
        const size_t row = static_cast<size_t>(starts[b]) + t;
        for (size_t o = 0; o < columns; ++o) {
          double sum = double{bias[o]};
          for (size_t c = 0; c < part; ++c) {
            for (size_t w = 0; w < width; ++w) {
              sum += double{weight[(o * part + c) * width + w]} * input[(t + w) * columns + o / part * part + c];
            }
          }
          const double expected = activate(activation, is_masked(row) ? 0 : sum);
          EXPECT_NEAR(y[row * columns + o], expected, 2e-6) << what << ", row " << row << " column " << o;
        }
      }
    }
    for (size_t i = rows() * columns; i < y.size(); ++i) EXPECT_EQ(y[i], 9.0f) << what;
  }
};

class Convolution : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, Convolution, testing::ValuesIn(test::levels_of(Operation::kConvolution)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

TEST_P(Convolution, FollowsTheEquationForEveryWidthGroupAndBorder) {
  for (const size_t width : {1u, 3u, 5u, 9u}) {
    for (const size_t groups : {1u, 2u, 6u}) {
      ConvolutionCase c;
      c.lengths = {7, 0, 1, 2, 12};
      c.width = width;
      c.groups = groups;
      c.fill();
      convolution(kernels(), c.params(kernels()));
      c.expect_agreement("widths and groups");
    }
  }
}

TEST_P(Convolution, ManyRowsGoBlockByBlock) {
  ConvolutionCase c;
  c.lengths = {60, 61, 120, 3, 90};
  c.columns = 34;
  c.groups = 2;
  c.fill();
  c.mask.assign(c.rows(), 1);
  for (const size_t row : {size_t{95}, size_t{96}, size_t{191}, size_t{240}}) c.mask[row] = 0;
  ThreadPool pool(2);
  convolution(kernels(), c.params(kernels(), pool.parallel()));
  c.expect_agreement("blocks");
}

TEST_P(Convolution, MaskedRowsCountAsZerosAndAreZeroBeforeTheActivation) {
  ConvolutionCase c;
  c.lengths = {6, 5};
  c.activation = KernelActivation::kSigmoid;
  c.mask = {1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1};
  c.fill();
  for (size_t row = 0; row < 11; ++row) {
    if (c.mask[row] == 0) std::fill_n(c.x.begin() + static_cast<std::ptrdiff_t>(row * 6), 6, kNan);
  }
  convolution(kernels(), c.params(kernels()));
  c.expect_agreement("masks");
  EXPECT_EQ(c.y[2 * 6], 0.5f);
}

TEST_P(Convolution, ThreadsAndNeighboursChangeNoBit) {
  ConvolutionCase c;
  c.lengths = {40, 3, 17, 300};
  c.width = 5;
  c.columns = 18;
  c.fill();
  convolution(kernels(), c.params(kernels()));
  const std::vector<float> expected = c.y;
  for (const unsigned threads : {2u, 3u}) {
    ThreadPool pool(threads);
    std::fill_n(c.y.begin(), c.rows() * c.columns, 0.0f);
    convolution(kernels(), c.params(kernels(), pool.parallel()));
    EXPECT_EQ(c.y, expected) << threads << " threads";
  }
  ConvolutionCase alone;
  alone.lengths = {17};
  alone.width = 5;
  alone.columns = 18;
  alone.fill();
  std::copy_n(&c.x[43 * 18], 17 * 18, alone.x.begin());
  convolution(kernels(), alone.params(kernels()));
  EXPECT_EQ(std::memcmp(alone.y.data(), &expected[43 * 18], 17 * 18 * sizeof(float)), 0);
}

TEST_P(Convolution, RefusesWhatDoesNotFitTogether) {
  ConvolutionCase c;
  c.fill();
  ConvolutionParams p = c.params(kernels());
  p.shape.width = 2;
  EXPECT_ERROR(convolution(kernels(), p), kInternal, "an even width");
  p = c.params(kernels());
  p.shape.groups = 4;
  EXPECT_ERROR(convolution(kernels(), p), kInternal, "groups that do not divide the columns");
  p = c.params(kernels());
  p.bias_D = nullptr;
  EXPECT_ERROR(convolution(kernels(), p), kInternal, "a null pointer");
  p = c.params(kernels());
  p.weight_DGW = nullptr;
  p.packed_G = nullptr;
  EXPECT_ERROR(convolution(kernels(), p), kInternal, "a null pointer");
  p = ConvolutionParams{};
  EXPECT_NO_THROW(convolution(kernels(), p));
}

TEST(ConvolutionLevels, CheckComparesWithTheReference) {
  const KernelSet kernels = select_kernels("check");
  ConvolutionCase c;
  c.fill();
  convolution(kernels, c.params(kernels));
  EXPECT_EQ(kernels.check->worst(Operation::kConvolution).calls, 1u);
  EXPECT_LT(kernels.check->worst(Operation::kConvolution).worst, 1e-5);
  c.bias[4] = kNan;
  convolution(kernels, c.params(kernels));
  EXPECT_EQ(kernels.check->worst(Operation::kConvolution).where, "[T 7, D 6, W 3] row 0 column 4");
}

}  // namespace
}  // namespace deberta::convolution_test
