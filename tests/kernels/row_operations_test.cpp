// Layer norm, embedding and activations: row by row against sums in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/activation.h"
#include "kernels/embedding.h"
#include "kernels/layer_norm.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace deberta {
namespace {

const KernelSet kKernels = select_kernels("auto");

struct NormCase {
  size_t rows = 5, columns = 33;
  std::vector<float> x = test::normals(1, rows*columns, 2, 3), residual = test::normals(2, rows*columns);
  std::vector<float> gamma = test::normals(3, columns, 0.3, 1), beta = test::normals(4, columns);
  std::vector<float> y = std::vector<float>(rows * columns + 8, 9.0f);

  LayerNormParams params() {
    LayerNormParams p{};
    p.x_TD = x.data();
    p.gamma_D = gamma.data();
    p.beta_D = beta.data();
    p.y_TD = y.data();
    p.rows = rows;
    p.columns = columns;
    return p;
  }
  double expected(size_t row, size_t d, bool with_residual, double epsilon) const {
    const auto z = [&](size_t c) {
      return double{x[row * columns + c]} + (with_residual ? double{residual[row * columns + c]} : 0);
    };
    double mean = 0, variance = 0;
    for (size_t c = 0; c < columns; ++c) mean += z(c) / double(columns);
    for (size_t c = 0; c < columns; ++c) variance += (z(c) - mean) * (z(c) - mean) / double(columns);
    return (z(d) - mean) / std::sqrt(variance + epsilon) * double{gamma[d]} + double{beta[d]};
  }
};

TEST(LayerNorm, FollowsTheEquationWithAndWithoutResidual) {
  for (const bool with_residual : {false, true}) {
    for (const double epsilon : {1e-7, 0.5}) {  // the large one shows that it is inside the root
      NormCase c;
      LayerNormParams p = c.params();
      p.residual_TD = with_residual ? c.residual.data() : nullptr;
      p.epsilon = epsilon;
      layer_norm(kKernels, p);
      for (size_t i = 0; i < 5; ++i) {
        for (size_t d = 0; d < 33; ++d) EXPECT_NEAR(c.y[i * 33 + d], c.expected(i, d, with_residual, epsilon), 2e-6);
      }
      for (size_t i = 5 * 33; i < c.y.size(); ++i) EXPECT_EQ(c.y[i], 9.0f);
    }
  }
}

TEST(LayerNorm, WorksInPlaceWithStridesAndThreads) {
  NormCase c;
  layer_norm(kKernels, c.params());
  ThreadPool pool(3);
  std::vector<float> wide(5 * 40, NAN);
  for (size_t i = 0; i < 5; ++i) std::copy_n(&c.x[i * 33], 33, &wide[i * 40]);
  LayerNormParams p = c.params();
  p.x_TD = p.y_TD = wide.data();
  p.x_stride = p.y_stride = 40;
  p.parallel = pool.parallel();
  layer_norm(kKernels, p);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(std::memcmp(&wide[i * 40], &c.y[i * 33], 33 * sizeof(float)), 0);
}

TEST(LayerNorm, MaskedRowsBecomeZeroAndAConstantRowIsBeta) {
  NormCase c;
  const uint8_t mask[] = {1, 0, 1, 0, 1};
  std::fill_n(c.x.begin(), 33, 4.0f);
  std::fill_n(c.x.begin() + 33, 33, NAN);
  LayerNormParams p = c.params();
  p.mask_T = mask;
  layer_norm(kKernels, p);
  for (size_t d = 0; d < 33; ++d) {
    EXPECT_EQ(c.y[d], c.beta[d]);
    EXPECT_EQ(c.y[33 + d], 0);
    EXPECT_NEAR(c.y[66 + d], c.expected(2, d, false, 1e-7), 2e-6);
  }
}

TEST(LayerNorm, RefusesNullPointers) {
  NormCase c;
  LayerNormParams p = c.params();
  p.gamma_D = nullptr;
  EXPECT_ERROR(layer_norm(kKernels, p), kInternal, "a null pointer");
}

TEST(Embedding, AddsTheRowsOfEveryTable) {
  const auto word = test::normals(1, 10 * 6), type = test::normals(2, 2 * 6), position = test::normals(3, 8 * 6);
  const int32_t ids[] = {9, 0, 9}, types[] = {0, 1, 1}, positions[] = {5, 6, 7};
  std::vector<float> x(3 * 6 + 4, 7.0f);
  EmbeddingParams p{};
  p.word = {word.data(), TableFormat::kF32, 10};
  p.ids_T = ids;
  p.tokens = 3;
  p.columns = 6;
  p.x_TE = x.data();
  embedding(kKernels, p);
  EXPECT_EQ(x[2 * 6 + 5], word[9 * 6 + 5]);
  p.type = {type.data(), TableFormat::kF32, 2};
  p.position = {position.data(), TableFormat::kF32, 8};
  p.position_ids_T = positions;
  embedding(kKernels, p);
  EXPECT_FLOAT_EQ(x[6 + 2], word[2] + type[2] + position[6 * 6 + 2]) << "type ids default to 0";
  p.type_ids_T = types;
  embedding(kKernels, p);
  EXPECT_FLOAT_EQ(x[6 + 2], word[2] + type[6 + 2] + position[6 * 6 + 2]);
  EXPECT_EQ(x[18], 7.0f);
}

TEST(Embedding, ReadsHalfAndBrainFloatAtAnyAlignment) {
  const uint16_t half[] = {0x3C00, 0xC500, 0x0001, 0x7BFF, 0x0000, 0x8400};
  const float half_values[] = {1.0f, -5.0f, 5.9604645e-8f, 65504.0f, 0.0f, -6.1035156e-5f};
  const uint16_t brain[] = {0x3F80, 0xC0A0, 0x0001, 0x7F7F, 0x0000, 0x3DCC};
  const int32_t ids[] = {1, 0};
  for (const bool is_half : {true, false}) {
    std::vector<unsigned char> bytes(13);
    std::memcpy(bytes.data() + 1, is_half ? half : brain, 12);
    float x[6] = {};
    EmbeddingParams p{};
    p.word = {bytes.data() + 1, is_half ? TableFormat::kF16 : TableFormat::kBf16, 2};
    p.ids_T = ids;
    p.tokens = 2;
    p.columns = 3;
    p.x_TE = x;
    embedding(kKernels, p);
    for (size_t i = 0; i < 6; ++i) {
      const uint32_t bits = uint32_t{brain[(i + 3) % 6]} << 16;
      float expected = half_values[(i + 3) % 6];
      if (!is_half) std::memcpy(&expected, &bits, 4);
      EXPECT_EQ(x[i], expected) << i;
    }
  }
}

TEST(Activation, GeluIsTheErfForm) {
  EXPECT_NEAR(activate(KernelActivation::kGelu, 1.0), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(activate(KernelActivation::kGelu, -2.0), -0.04550026389635842, 1e-15);
  EXPECT_NEAR(activate(KernelActivation::kSwish, 1.0), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(activate(KernelActivation::kSigmoid, -1.0), 0.2689414213699951, 1e-15);
  EXPECT_EQ(activate(KernelActivation::kRelu, -3.0), 0);
}

TEST(Activation, SingleAndDoublePrecisionAgree) {
  for (const KernelActivation a : {KernelActivation::kLinear, KernelActivation::kGelu, KernelActivation::kRelu,
                                   KernelActivation::kSwish, KernelActivation::kTanh, KernelActivation::kSigmoid}) {
    std::vector<float> x = test::normals(5, 200, 4);
    const std::vector<float> before = x;
    activate_row(a, x.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], activate(a, double{before[i]}), 2e-6);
  }
}

}  // namespace
}  // namespace deberta
