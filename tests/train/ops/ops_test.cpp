// The other operations: values against plain loops or the kernels, gradients against finite differences.
// N rows  D columns  V vocabulary  E embedding size
#include <ATen/ops/empty.h>
#include <ATen/ops/linspace.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/convolution.h"
#include "support/torch_numbers.h"
#include "train/ops/activation.h"
#include "train/ops/convolution.h"
#include "train/ops/cross_entropy.h"
#include "train/ops/dropout.h"
#include "train/ops/embedding.h"
#include "train/ops/layer_norm.h"
#include "train/ops/linear.h"
#include "train/ops/random_domains.h"

namespace deberta::train::ops_test {
namespace {

using namespace test;

const Compute kCompute{.kernels = select_kernels("reference")};
constexpr double kDifferences = 1e-8;

at::Tensor weighted(const at::Tensor& x) {
  return (x * normal_tensor(77, x.sizes())).sum();
}

at::Tensor with_gradient(at::Tensor x) {
  return x.requires_grad_(true);
}

at::Tensor ids(const std::vector<int32_t>& values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, at::kInt);
  std::copy(values.begin(), values.end(), tensor.data_ptr<int32_t>());
  return tensor;
}

TEST(Linear, GradientsAreFiniteDifferences) {
  const at::Tensor x = with_gradient(normal_tensor(1, {5, 3})), w = with_gradient(normal_tensor(2, {4, 3})),
                   b = with_gradient(normal_tensor(3, {4}));
  EXPECT_LE(worst_gradient_error({x, w, b}, [&] { return weighted(linear(kCompute, x, w, b).tanh()); }), kDifferences);
  EXPECT_LE(worst_gradient_error({x, w}, [&] { return weighted(linear(kCompute, x, w, {}).tanh()); }), kDifferences);
}

TEST(LayerNorm, GradientsAreFiniteDifferences) {
  const at::Tensor x = with_gradient(normal_tensor(1, {5, 8})), residual = with_gradient(normal_tensor(2, {5, 8}));
  const NormWeights norm{with_gradient(normal_tensor(3, {8})), with_gradient(normal_tensor(4, {8})), 1e-7};
  const Rows rows{{0, 2, 5}};
  const std::vector<at::Tensor> all = {x, residual, norm.gamma_D, norm.beta_D};
  for (const double p : {0.0, 0.5}) {
    const Dropout drop{.p = p, .seed = 3};
    EXPECT_LE(worst_gradient_error(all, [&] { return weighted(add_norm(kCompute, x, residual, norm, drop, rows)); }),
              kDifferences);
  }
}

TEST(LayerNorm, MaskedRowsAreZeroAndPassNoGradientOn) {
  const at::Tensor x = with_gradient(normal_tensor(1, {3, 4}));
  const Rows rows{{0, 3}, {}, {1, 0, 1}};
  const at::Tensor y = mask_rows(kCompute, x, rows);
  EXPECT_EQ(y[1].abs().sum().item<double>(), 0);
  y.sum().backward();
  EXPECT_EQ(x.grad()[1].abs().sum().item<double>(), 0);
  EXPECT_EQ(x.grad()[2].sum().item<double>(), 4);
}

TEST(Activations, AreThoseOfTheKernelsWithTheirDerivatives) {
  for (int kind = 0; kind <= static_cast<int>(KernelActivation::kLaplace); ++kind) {
    const auto activation = static_cast<KernelActivation>(kind);
    const at::Tensor x = with_gradient(at::linspace(-8.03, 8.07, 47, at::kDouble));
    const at::Tensor y = activate(kCompute, x, activation);
    for (int64_t i = 0; i < x.numel(); ++i) {
      EXPECT_NEAR(y[i].item<double>(), deberta::activate(activation, x[i].item<double>()), 1e-12) << kind;
    }
    const auto function = [&] { return weighted(activate(kCompute, x, activation)); };
    EXPECT_LE(worst_gradient_error({x}, function, 47), kDifferences) << kind;
  }
}

TEST(Embedding, GradientsOfARowAddUpButNotOfThePadding) {
  const at::Tensor table = with_gradient(normal_tensor(1, {6, 3}));
  const at::Tensor x = embedding(kCompute, table, ids({4, 0, 4, 5}), 0);
  EXPECT_EQ(worst_difference(x[1], table[0]), 0);
  x.sum().backward();
  const std::vector<double> expected = {0, 0, 0, 0, 2, 1};
  for (int64_t row = 0; row < 6; ++row) {
    EXPECT_EQ(test::gradient_of(table)[row][0].item<double>(), expected[static_cast<size_t>(row)]) << row;
  }
}

TEST(RowDropout, DropsByPlaceWhateverThePack) {
  const at::Tensor x = normal_tensor(1, {7, 40}) + 5;
  const Dropout drop{.p = 0.5, .seed = 9, .step = 1, .layer = 2, .sequence_offset = 4};
  const at::Tensor y = dropout(kCompute, x, drop, Rows{{0, 3, 7}});
  Dropout second = drop;
  second.sequence_offset = 5;
  const at::Tensor alone = dropout(kCompute, x.narrow(0, 3, 4), second, Rows{{0, 4}});
  EXPECT_EQ(worst_difference(y.narrow(0, 3, 4), alone), 0);
  const at::Tensor chosen = dropout(kCompute, x.narrow(0, 5, 1), second, Rows{{0, 1}, {2}});
  EXPECT_EQ(worst_difference(y.narrow(0, 5, 1), chosen), 0);
}

TEST(RowDropout, KeepsByteForByteWhatTheKernelsKeep) {
  const at::Tensor x = normal_tensor(1, {2, 20}).abs() + 1;
  const Dropout drop{.p = 0.1, .seed = 9, .step = 1, .layer = 2, .sequence_offset = 4};
  const at::Tensor y = dropout(kCompute, x, drop, Rows{{0, 2}});
  for (uint32_t i = 0; i < 2; ++i) {
    for (uint32_t d = 0; d < 20; ++d) {
      const bool is_dropped = dropout_bytes(drop, 0, 1, 0, i, d / 16)[d % 16] < drop.threshold();
      const double expected = is_dropped ? 0 : x[i][d].item<double>() * drop.scale();
      EXPECT_DOUBLE_EQ(y[i][d].item<double>(), expected) << i << " " << d;
    }
  }
}

TEST(RowDropout, KeepsTheMean) {
  const at::Tensor x = normal_tensor(1, {200, 64}) * 0 + 1;
  const at::Tensor y = dropout(kCompute, x, {.p = 0.1, .seed = 1}, Rows{{0, 200}});
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.02);
  EXPECT_EQ(worst_difference(dropout(kCompute, x, {.p = 0, .seed = 1}, Rows{{0, 200}}), x), 0);
}

struct ConvolutionCase {
  int64_t width, groups;
};

TEST(TrainConvolution, IsThatOfTheKernelsWithItsDerivatives) {
  const Rows rows{{0, 5, 5, 6, 11}, {}, {1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1}};
  for (const auto [width, groups] : {ConvolutionCase{3, 1}, {5, 2}, {1, 4}, {7, 8}}) {
    const at::Tensor x = with_gradient(normal_tensor(1, {11, 8})),
                     w = with_gradient(normal_tensor(2, {8, 8 / groups, width})),
                     b = with_gradient(normal_tensor(3, {8}));
    const auto run = [&] { return convolution(kCompute, x, {w, b, groups}, rows); };
    at::Tensor expected = at::empty({11, 8}, at::kFloat);
    const at::Tensor x32 = x.detach().to(at::kFloat), w32 = w.detach().to(at::kFloat), b32 = b.detach().to(at::kFloat);
    deberta::convolution(kCompute.kernels, {.x_TD = x32.data_ptr<float>(),
                                            .mask_T = rows.mask_N.data(),
                                            .starts = rows.starts.data(),
                                            .sequences = rows.sequences(),
                                            .shape = {8, static_cast<size_t>(width), static_cast<size_t>(groups)},
                                            .weight_DGW = w32.data_ptr<float>(),
                                            .bias_D = b32.data_ptr<float>(),
                                            .y_TD = expected.data_ptr<float>()});
    EXPECT_LE(worst_difference(run(), expected), 1e-6) << width << " " << groups;
    EXPECT_LE(worst_gradient_error({x, w, b}, [&] { return weighted(run()); }), kDifferences) << width;
  }
}

struct TiedCase {
  at::Tensor h = with_gradient(normal_tensor(1, {7, 4}));
  TiedOutput output{with_gradient(normal_tensor(2, {9, 4})), with_gradient(normal_tensor(3, {9}))};
  at::Tensor labels = ids({3, 8, 0, 0, 5, 1, 3});
  std::vector<at::Tensor> all() const { return {h, output.table_VE, output.bias_V}; }
};

TEST(CrossEntropy, GradientsAreFiniteDifferencesForAnyChunk) {
  const TiedCase c;
  for (const int64_t chunk : {1, 3, 7, 1024}) {
    const auto function = [&] { return cross_entropy(kCompute, c.h, c.output, c.labels, chunk).sum; };
    EXPECT_LE(worst_gradient_error(c.all(), function), kDifferences) << chunk;
    EXPECT_LE(worst_gradient_error(c.all(), [&] { return 0.25 * function(); }), kDifferences) << "a scaled loss";
  }
}

TEST(CrossEntropy, IsTheSumAndCountsTheRight) {
  const TiedCase c;
  const at::Tensor logits = linear(kCompute, c.h, c.output.table_VE, c.output.bias_V);
  double sum = 0;
  int64_t correct = 0;
  for (int64_t n = 0; n < 7; ++n) {
    const int64_t label = c.labels[n].item<int32_t>();
    sum -= logits[n].log_softmax(0)[label].item<double>();
    correct += logits[n].argmax(0).item<int64_t>() == label ? 1 : 0;
  }
  const CrossEntropy result = cross_entropy(kCompute, c.h, c.output, c.labels, 2);
  EXPECT_NEAR(result.sum.item<double>(), sum, 1e-12);
  EXPECT_EQ(result.correct, correct);
}

TEST(CrossEntropy, WithoutRowsIsZero) {
  const TiedCase c;
  const CrossEntropy result = cross_entropy(kCompute, c.h.narrow(0, 0, 0), c.output, c.labels.narrow(0, 0, 0));
  result.sum.backward();
  EXPECT_EQ(result.sum.item<double>(), 0);
  EXPECT_EQ(test::gradient_of(c.output.table_VE).abs().sum().item<double>(), 0);
}

TEST(RandomDomains, HaveKeysOfTheirOwn) {
  std::vector<uint64_t> keys;
  for (uint32_t domain = 0; domain <= static_cast<uint32_t>(RandomDomain::kAdversarialDropout); ++domain) {
    keys.push_back(random_key(1, static_cast<RandomDomain>(domain)));
    keys.push_back(random_key(2, static_cast<RandomDomain>(domain)));
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

}  // namespace
}  // namespace deberta::train::ops_test
