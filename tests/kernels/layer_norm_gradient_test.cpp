// Layer norm as training runs it, and its gradients: every implementation that this processor has, against the
// equations in double; the equations against finite differences.
#include "kernels/layer_norm_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/layer_norm.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::layer_norm_gradient_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = 12345.5f;
constexpr double kEpsilon = 1e-7;

// The equations, in one number format.
template <class Number>
struct Equations {
  size_t columns;
  std::vector<Number> z, gamma, beta;
  Number mean = 0, inverse = 0;  // rounded to fp32 they are inputs of the gradient

  void find_statistics() {
    Number sum = 0, squares = 0;
    for (size_t d = 0; d < columns; ++d) sum += z[d];
    mean = sum / static_cast<Number>(columns);
    for (size_t d = 0; d < columns; ++d) squares += (z[d] - mean) * (z[d] - mean);
    inverse = 1 / std::sqrt(squares / static_cast<Number>(columns) + static_cast<Number>(kEpsilon));
  }
  std::vector<Number> normed() const {
    std::vector<Number> n(columns);
    for (size_t d = 0; d < columns; ++d) n[d] = (z[d] - mean) * inverse;
    return n;
  }
  std::vector<Number> gradient(const std::vector<Number>& dy) const {
    const std::vector<Number> n = normed();
    Number sum_g = 0, sum_gn = 0;
    for (size_t d = 0; d < columns; ++d) {
      sum_g += dy[d] * gamma[d];
      sum_gn += dy[d] * gamma[d] * n[d];
    }
    std::vector<Number> dz(columns);
    const auto count = static_cast<Number>(columns);
    for (size_t d = 0; d < columns; ++d) dz[d] = inverse * (dy[d] * gamma[d] - sum_g / count - n[d] * sum_gn / count);
    return dz;
  }
};

template <class Number>
std::vector<Number> numbers(const float* from, size_t count) {
  return std::vector<Number>(from, from + count);
}

TEST(LayerNormGradientEquations, AreTheFiniteDifferencesOfTheLayerNorm) {
  constexpr size_t kColumns = 13;
  const auto z = test::normals(1, kColumns, 2, 3), gamma = test::normals(2, kColumns, 0.3, 1),
             beta = test::normals(3, kColumns), dy = test::normals(4, kColumns);
  const auto loss = [&](Equations<double> e) {
    e.find_statistics();
    const std::vector<double> n = e.normed();
    double sum = 0;
    for (size_t d = 0; d < kColumns; ++d) sum += double{dy[d]} * (n[d] * e.gamma[d] + e.beta[d]);
    return sum;
  };
  Equations<double> at{kColumns, numbers<double>(z.data(), kColumns), numbers<double>(gamma.data(), kColumns),
                       numbers<double>(beta.data(), kColumns)};
  at.find_statistics();
  const auto difference = [&](std::vector<double> Equations<double>::*which, size_t d) {
    constexpr double kStep = 1e-5;
    Equations<double> above = at, below = at;
    (above.*which)[d] += kStep;
    (below.*which)[d] -= kStep;
    return (loss(above) - loss(below)) / (2 * kStep);
  };
  const std::vector<double> dz = at.gradient(numbers<double>(dy.data(), kColumns)), n = at.normed();
  for (size_t d = 0; d < kColumns; ++d) {
    EXPECT_NEAR(dz[d], difference(&Equations<double>::z, d), 1e-9);
    EXPECT_NEAR(double{dy[d]} * n[d], difference(&Equations<double>::gamma, d), 1e-9);
    EXPECT_NEAR(double{dy[d]}, difference(&Equations<double>::beta, d), 1e-9);
  }
}

class LayerNormGradient : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, LayerNormGradient, testing::ValuesIn(test::levels_of(Operation::kLayerNormGradient)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

// The forward pass and then the backward one; outputs between guards, scratch of NaN.
struct NormGradientCase {
  size_t rows, columns;
  std::vector<float> x, residual, gamma, beta, dy, z, mean, inverse, y, dz, dx, dgamma, dbeta, scratch;
  std::vector<int32_t> starts;
  Dropout dropout;
  std::vector<uint8_t> mask;

  NormGradientCase(size_t row_count, size_t column_count)
      : rows(row_count),
        columns(column_count),
        x(test::normals(1, rows * columns, 2, 3)),
        residual(test::normals(2, rows * columns)),
        gamma(test::normals(3, columns, 0.3, 1)),
        beta(test::normals(4, columns)),
        dy(test::normals(5, rows * columns)),
        z(rows * columns),
        mean(rows),
        inverse(rows),
        y(rows * columns),
        dz(rows * columns + 2, kGuard),
        dx(dz),
        dgamma(columns + 2, kGuard),
        dbeta(dgamma),
        starts{0, static_cast<int32_t>(rows / 3), static_cast<int32_t>(rows)} {}

  RowDropout row_dropout() const { return {.dropout = dropout, .starts = starts.data(), .sequences = 2}; }
  void forward(const KernelSet& kernels, const Parallel& parallel = serial()) {
    LayerNormParams p{};
    p.x_TD = x.data();
    p.residual_TD = residual.data();
    p.mask_T = mask.empty() ? nullptr : mask.data();
    p.gamma_D = gamma.data();
    p.beta_D = beta.data();
    p.y_TD = y.data();
    p.rows = rows;
    p.columns = columns;
    p.epsilon = kEpsilon;
    p.dropout = row_dropout();
    p.z_TD = z.data();
    p.mean_T = mean.data();
    p.inverse_T = inverse.data();
    p.parallel = parallel;
    layer_norm(kernels, p);
  }
  LayerNormGradientParams params() {
    LayerNormGradientParams p{};
    p.dy_TD = dy.data();
    p.z_TD = z.data();
    p.mean_T = mean.data();
    p.inverse_T = inverse.data();
    p.mask_T = mask.empty() ? nullptr : mask.data();
    p.gamma_D = gamma.data();
    p.dz_TD = dz.data() + 1;
    p.dx_TD = dx.data() + 1;
    p.dropout = row_dropout();
    p.dgamma_D = dgamma.data() + 1;
    p.dbeta_D = dbeta.data() + 1;
    p.rows = rows;
    p.columns = columns;
    scratch.assign(layer_norm_gradient_scratch_bytes(rows, columns) / sizeof(float) + 1, kNan);
    scratch.back() = kGuard;
    p.scratch = scratch.data();
    return p;
  }
  template <class Number>
  Equations<Number> equations(size_t row) const {
    return {columns,
            numbers<Number>(&z[row * columns], columns),
            numbers<Number>(gamma.data(), columns),
            {},
            static_cast<Number>(mean[row]),
            static_cast<Number>(inverse[row])};
  }
  template <class Number>
  std::vector<Number> dy_of(size_t row) const {
    return numbers<Number>(&dy[row * columns], columns);
  }
  // At most twice the error of plain fp32 loops, plus 1e-5; `before` is what was in dgamma and dbeta.
  void expect_agreement(double before) const {
    double error = 0, naive_error = 0, error_gamma = 0, error_beta = 0, naive_gamma = 0, naive_beta = 0;
    std::vector<double> gamma_D(columns), beta_D(columns);
    std::vector<float> gamma_naive(columns), beta_naive(columns);
    for (size_t t = 0; t < rows; ++t) {
      const bool is_masked = !mask.empty() && mask[t] == 0;
      const auto exact = equations<double>(t).gradient(dy_of<double>(t));
      const auto naive = equations<float>(t).gradient(dy_of<float>(t));
      const auto n = equations<double>(t).normed();
      const auto n_naive = equations<float>(t).normed();
      for (size_t d = 0; d < columns; ++d) {
        const float result = dz[1 + t * columns + d];
        ASSERT_TRUE(std::isfinite(result));
        error = std::max(error, std::abs(double{result} - (is_masked ? 0 : exact[d])));
        naive_error = std::max(naive_error, std::abs(double{naive[d]} - exact[d]));
        if (is_masked) continue;
        const float dy_d = dy[t * columns + d];
        gamma_D[d] += double{dy_d} * n[d];
        beta_D[d] += double{dy_d};
        gamma_naive[d] += dy_d * n_naive[d];
        beta_naive[d] += dy_d;
      }
    }
    for (size_t d = 0; d < columns; ++d) {
      error_gamma = std::max(error_gamma, std::abs(double{dgamma[1 + d]} - before - gamma_D[d]));
      error_beta = std::max(error_beta, std::abs(double{dbeta[1 + d]} - before - beta_D[d]));
      naive_gamma = std::max(naive_gamma, std::abs(double{gamma_naive[d]} - gamma_D[d]));
      naive_beta = std::max(naive_beta, std::abs(double{beta_naive[d]} - beta_D[d]));
    }
    EXPECT_LE(error, 2 * naive_error + 1e-5) << "dz " << rows << " x " << columns;
    EXPECT_LE(error_gamma, 2 * naive_gamma + 1e-5) << "dgamma " << rows << " x " << columns;
    EXPECT_LE(error_beta, 2 * naive_beta + 1e-5) << "dbeta " << rows << " x " << columns;
    for (const auto* out : {&dz, &dx, &dgamma, &dbeta}) EXPECT_TRUE(out->front() == kGuard && out->back() == kGuard);
    EXPECT_EQ(scratch.back(), kGuard);
  }
};

TEST_P(LayerNormGradient, FollowsTheEquationsForAllColumns) {
  std::vector<size_t> columns = {384, 768, 1000};
  for (size_t count = 2; count <= 70; ++count) columns.push_back(count);
  for (const size_t count : columns) {
    NormGradientCase c(5, count);
    c.forward(kernels());
    layer_norm_gradient(kernels(), c.params());
    c.expect_agreement(0);
  }
}

TEST_P(LayerNormGradient, SumsOverRowsOfAllBlocksAndAddsWhenAsked) {
  for (const size_t rows : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{200}}) {
    for (const bool adds : {false, true}) {
      NormGradientCase c(rows, 37);
      c.forward(kernels());
      std::fill(c.dgamma.begin() + 1, c.dgamma.end() - 1, adds ? 0.5f : kNan);
      std::fill(c.dbeta.begin() + 1, c.dbeta.end() - 1, adds ? 0.5f : kNan);
      LayerNormGradientParams p = c.params();
      p.adds_weights = adds;
      layer_norm_gradient(kernels(), p);
      c.expect_agreement(adds ? 0.5 : 0);
    }
  }
}

TEST_P(LayerNormGradient, MaskedRowsGetZerosAndAddNothing) {
  NormGradientCase c(9, 40);
  c.mask = {1, 0, 1, 1, 0, 1, 1, 1, 1};
  c.forward(kernels());
  LayerNormGradientParams p = c.params();
  layer_norm_gradient(kernels(), p);
  c.expect_agreement(0);
}

TEST_P(LayerNormGradient, DzMayBeDyAndTheRestIsOptional) {
  NormGradientCase c(70, 45), again(70, 45);
  c.forward(kernels());
  again.forward(kernels());
  layer_norm_gradient(kernels(), c.params());
  LayerNormGradientParams p = again.params();
  p.dz_TD = again.dy.data();
  p.dx_TD = p.dgamma_D = p.dbeta_D = nullptr;
  layer_norm_gradient(kernels(), p);
  EXPECT_TRUE(std::equal(again.dy.begin(), again.dy.end(), c.dz.begin() + 1));
}

TEST_P(LayerNormGradient, HasTheSameBitsWithAnyThreads) {
  NormGradientCase whole(300, 100);
  whole.dropout = {.p = 0.1, .seed = 3};
  whole.forward(kernels());
  layer_norm_gradient(kernels(), whole.params());
  for (const unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    NormGradientCase c(300, 100);
    c.dropout = whole.dropout;
    c.forward(kernels(), pool.parallel());
    LayerNormGradientParams p = c.params();
    p.parallel = pool.parallel();
    layer_norm_gradient(kernels(), p);
    EXPECT_TRUE(c.y == whole.y && c.z == whole.z && c.mean == whole.mean && c.inverse == whole.inverse);
    EXPECT_TRUE(c.dz == whole.dz && c.dx == whole.dx) << threads << " threads";
    EXPECT_TRUE(c.dgamma == whole.dgamma && c.dbeta == whole.dbeta) << threads << " threads";
  }
}

// The forward pass: z, statistics, and y as without them.
TEST_P(LayerNormGradient, TheForwardPassKeepsZAndStatistics) {
  for (const size_t columns : {size_t{3}, size_t{40}, size_t{129}}) {
    NormGradientCase c(7, columns);
    c.forward(kernels());
    std::vector<float> y(c.y.size());
    LayerNormParams p{};
    p.x_TD = c.x.data();
    p.residual_TD = c.residual.data();
    p.gamma_D = c.gamma.data();
    p.beta_D = c.beta.data();
    p.y_TD = y.data();
    p.rows = 7;
    p.columns = columns;
    layer_norm(kernels(), p);
    EXPECT_EQ(c.y, y) << "y does not depend on what else is wanted";
    for (size_t t = 0; t < 7; ++t) {
      for (size_t d = 0; d < columns; ++d)
        EXPECT_EQ(c.z[t * columns + d], c.x[t * columns + d] + c.residual[t * columns + d]);
      Equations<double> exact = c.equations<double>(t);
      exact.find_statistics();
      EXPECT_NEAR(c.mean[t], exact.mean, 2e-6);
      EXPECT_NEAR(c.inverse[t], exact.inverse, 2e-6 * exact.inverse);
    }
    p.residual_TD = nullptr;
    p.z_TD = c.z.data();
    layer_norm(kernels(), p);
    EXPECT_EQ(c.z, c.x) << "without a residual";
    p.z_TD = c.x.data();  // in place
    p.residual_TD = c.residual.data();
    layer_norm(kernels(), p);
    EXPECT_EQ(y, c.y) << "z in place of x";
  }
}

TEST_P(LayerNormGradient, DropoutInFrontIsThatOfTheRowsForwardAndBackward) {
  NormGradientCase c(30, 50);
  c.dropout = {.p = 0.25, .seed = 7, .step = 2, .layer = 1, .sequence_offset = 4};
  c.forward(kernels());
  layer_norm_gradient(kernels(), c.params());
  c.expect_agreement(0);
  std::vector<float> dropped(50);
  for (size_t t = 0; t < 30; ++t) {
    dropout_row(nullptr, c.row_dropout(), t, &c.x[t * 50], dropped.data(), 50);
    for (size_t d = 0; d < 50; ++d) EXPECT_EQ(c.z[t * 50 + d], dropped[d] + c.residual[t * 50 + d]);
    dropout_row(nullptr, c.row_dropout(), t, &c.dz[1 + t * 50], dropped.data(), 50);
    for (size_t d = 0; d < 50; ++d) EXPECT_EQ(c.dx[1 + t * 50 + d], dropped[d]);
  }
}

TEST_P(LayerNormGradient, WithoutDropoutDxIsDz) {
  NormGradientCase c(4, 20);
  c.forward(kernels());
  layer_norm_gradient(kernels(), c.params());
  EXPECT_EQ(c.dx, c.dz);
}

TEST(LayerNormGradientArguments, AreChecked) {
  const KernelSet kernels = select_kernels("auto");
  NormGradientCase c(4, 20);
  LayerNormGradientParams p = c.params();
  p.inverse_T = nullptr;
  EXPECT_ERROR(layer_norm_gradient(kernels, p), kInternal, "layer_norm_gradient: a null pointer");
  c.dropout.p = 1;
  EXPECT_ERROR(layer_norm_gradient(kernels, c.params()), kInternal, "dropout outside [0, 1)");
  LayerNormParams forward{};
  forward.x_TD = forward.gamma_D = forward.beta_D = c.x.data();
  forward.y_TD = c.y.data();
  forward.rows = 4;
  forward.columns = 20;
  forward.mean_T = c.mean.data();
  EXPECT_ERROR(layer_norm(kernels, forward), kInternal, "a mean without its inverse");
  forward.inverse_T = c.inverse.data();
  forward.dropout.dropout.p = 0.5;
  EXPECT_ERROR(layer_norm(kernels, forward), kInternal, "dropout without a place for z");
}

TEST(LayerNormGradientArguments, WithoutRowsGradientsAreZerosOrStay) {
  for (const bool adds : {false, true}) {
    std::vector<float> dgamma(3, 2.0f), dbeta(3, 2.0f);
    LayerNormGradientParams p{};
    p.columns = 3;
    p.dgamma_D = dgamma.data();
    p.dbeta_D = dbeta.data();
    p.adds_weights = adds;
    layer_norm_gradient(select_kernels("auto"), p);
    EXPECT_EQ(dgamma, std::vector<float>(3, adds ? 2.0f : 0.0f));
    EXPECT_EQ(dbeta, dgamma);
  }
}

TEST(LayerNormGradientArguments, CheckComparesWithTheReference) {
  const KernelSet kernels = select_kernels("check");
  NormGradientCase c(9, 390);
  c.dropout = {.p = 0.1, .seed = 1};
  c.forward(kernels);
  layer_norm_gradient(kernels, c.params());
  c.expect_agreement(0);
  EXPECT_LT(kernels.check->worst(Operation::kLayerNorm).worst, 1e-5);
  const KernelCheck::Difference difference = kernels.check->worst(Operation::kLayerNormGradient);
  EXPECT_EQ(difference.calls, 1u);
  EXPECT_LT(difference.worst, 1e-5);
  EXPECT_NE(difference.where.find("[T 9, D 390] row "), std::string::npos) << difference.where;
}

}  // namespace
}  // namespace deberta::layer_norm_gradient_test
