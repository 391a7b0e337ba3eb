// Convolution against a version that pads and masks a copy first; borders, masks, groups, threads.
#include "kernels/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace deberta {
namespace {

const KernelSet kKernels = select_kernels("auto");

struct ConvolutionCase {
  std::vector<int32_t> lengths = {7};
  size_t columns = 6, width = 3, groups = 1;
  KernelActivation activation = KernelActivation::kTanh;
  std::vector<uint8_t> mask;

  std::vector<int32_t> starts;
  std::vector<float> x, weight, bias, y;

  void fill() {
    starts = {0};
    for (const int32_t length : lengths) starts.push_back(starts.back() + length);
    x = test::normals(1, rows() * columns);
    weight = test::normals(2, columns * (columns / groups) * width, 0.4);
    bias = test::normals(3, columns, 0.5);
    y.assign(rows() * columns + 8, 9.0f);
  }
  size_t rows() const { return static_cast<size_t>(starts.back()); }

  ConvolutionParams params() {
    ConvolutionParams p{};
    p.x_TD = x.data();
    p.mask_T = mask.empty() ? nullptr : mask.data();
    p.starts = starts.data();
    p.sequences = lengths.size();
    p.columns = columns;
    p.width = width;
    p.groups = groups;
    p.weight_DGW = weight.data();
    p.bias_D = bias.data();
    p.activation = activation;
    p.y_TD = y.data();
    return p;
  }

  bool is_masked(size_t row) const { return !mask.empty() && mask[row] == 0; }

  // One sequence with zeros around it and in its holes.
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
          EXPECT_NEAR(y[row * columns + o], expected, 1e-6) << what << ", row " << row << " column " << o;
        }
      }
    }
    for (size_t i = rows() * columns; i < y.size(); ++i) EXPECT_EQ(y[i], 9.0f) << what;
  }
};

TEST(Convolution, FollowsTheEquationForEveryWidthGroupAndBorder) {
  for (const size_t width : {1u, 3u, 5u, 9u}) {
    for (const size_t groups : {1u, 2u, 6u}) {
      ConvolutionCase c;
      c.lengths = {7, 0, 1, 2, 12};
      c.width = width;
      c.groups = groups;
      c.fill();
      convolution(kKernels, c.params());
      c.expect_agreement("widths and groups");
    }
  }
}

TEST(Convolution, MaskedRowsCountAsZerosAndAreZeroBeforeTheActivation) {
  ConvolutionCase c;
  c.lengths = {6, 5};
  c.activation = KernelActivation::kSigmoid;
  c.mask = {1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1};
  c.fill();
  for (size_t row = 0; row < 11; ++row) {
    if (c.mask[row] == 0) std::fill_n(c.x.begin() + static_cast<std::ptrdiff_t>(row * 6), 6, NAN);
  }
  convolution(kKernels, c.params());
  c.expect_agreement("masks");
  EXPECT_EQ(c.y[2 * 6], 0.5f);
}

TEST(Convolution, ThreadsChangeNoBit) {
  ConvolutionCase c;
  c.lengths = {40, 3, 17};
  c.width = 5;
  c.fill();
  convolution(kKernels, c.params());
  const std::vector<float> expected = c.y;
  ThreadPool pool(3);
  ConvolutionParams p = c.params();
  p.parallel = pool.parallel();
  std::fill_n(c.y.begin(), c.rows() * c.columns, 0.0f);
  convolution(kKernels, p);
  EXPECT_EQ(c.y, expected);
}

TEST(Convolution, RefusesWhatDoesNotFitTogether) {
  ConvolutionCase c;
  c.fill();
  ConvolutionParams p = c.params();
  p.width = 2;
  EXPECT_ERROR(convolution(kKernels, p), kInternal, "an even width");
  p = c.params();
  p.groups = 4;
  EXPECT_ERROR(convolution(kKernels, p), kInternal, "groups that do not divide the columns");
  p = c.params();
  p.bias_D = nullptr;
  EXPECT_ERROR(convolution(kKernels, p), kInternal, "a null pointer");
  p = ConvolutionParams{};
  EXPECT_NO_THROW(convolution(kKernels, p));
}

}  // namespace
}  // namespace deberta
