// XAdam and AdamW against sums by hand and against a scalar second opinion in double.
#include "train/optim/adam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "optim_case.h"
#include "support/expect_error.h"
#include "train/optim/gradient_norm.h"

namespace deberta::train::adam_test {
namespace {

using test::fill;
using test::ScalarAdam;

constexpr double kTolerance = 1e-6;  // relative to the largest weight

struct Variant {
  const char* name;
  AdamOptions options;
};

std::vector<Variant> variants() {
  return {{"xadam", {}},
          {"adamw", {.has_bias_correction = true}},
          {"admax", {.is_admax = true}},
          {"radam", {.is_rectified = true}},
          {"lookahead", {.lookahead_k = 3, .lookahead_alpha = 0.3}},
          {"other numbers", {.beta1 = 0.8, .beta2 = 0.98, .epsilon = 1e-3, .weight_decay = 0.2}},
          {"admax, radam, lookahead", {.beta2 = 0.9, .is_admax = true, .is_rectified = true, .lookahead_k = 2}}};
}

double rate_at(int step) {
  return 0.02 + 0.01 * step;
}

// The weights after `steps` steps, and at `errors` the largest difference from the second opinion, in parts of the
// largest weight.
FlatBuffer run(const AdamOptions& options, int steps, const Parallel& parallel, double* error = nullptr) {
  const ParameterLayout layout = test::make_case_layout();
  FlatBuffer weights(layout), gradients(layout);
  fill(layout, weights, 1, 1);
  std::vector<ScalarAdam> expected;
  for (const ParameterSlot& slot : layout.slots) {
    for (const float weight : weights.of(slot)) expected.emplace_back(options, double{weight}, slot.decays);
  }
  Adam adam(layout, options, weights);
  double difference = 0, largest = 0;
  for (int step = 0; step < steps; ++step) {
    const double divisor = step % 2 == 0 ? 1 : 512;
    fill(layout, gradients, 100 + static_cast<uint64_t>(step), 0.1 * divisor);
    std::vector<double> scaled;
    for (const ParameterSlot& slot : layout.slots) {
      for (const float gradient : gradients.of(slot)) scaled.push_back(gradient / divisor);
    }
    adam.step({.learning_rate = rate_at(step), .divisor = divisor, .parallel = parallel}, weights, gradients);
    if (error == nullptr) continue;
    size_t at = 0;
    for (const ParameterSlot& slot : layout.slots) {
      for (const float weight : weights.of(slot)) {
        expected[at].step(scaled[at], rate_at(step));
        difference = std::max(difference, std::abs(expected[at].weight - double{weight}));
        largest = std::max(largest, std::abs(expected[at].weight));
        ++at;
      }
    }
  }
  if (error != nullptr) *error = difference / largest;
  return weights;
}

TEST(Adam, AgreesWithASecondOpinionInDouble) {
  for (const auto& [name, options] : variants()) {
    double error = 1;
    run(options, 8, serial(), &error);
    EXPECT_LE(error, kTolerance) << name;
    RecordProperty(name, std::to_string(error * 1e9) + "e-9");
  }
}

TEST(Adam, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const auto& [name, options] : variants()) {
    const FlatBuffer expected = run(options, 4, serial());
    for (const size_t threads : {1u, 2u, 3u}) {
      ThreadPool pool(threads);
      const FlatBuffer got = run(options, 4, pool.parallel());
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0) << name << ", " << threads;
    }
  }
}

TEST(Adam, GivesTheSameBitsWhereZerosAreNotRead) {
  const ParameterLayout layout = make_layout({{"LayerNorm.weight", {5}}, {"table", {9, 2000}}});
  for (const auto& [name, options] : variants()) {
    FlatBuffer weights[2] = {FlatBuffer(layout), FlatBuffer(layout)};
    for (FlatBuffer& buffer : weights) fill(layout, buffer, 1, 1);
    Adam whole(layout, options, weights[0]), sparse(layout, options, weights[1]);
    for (uint64_t step = 0; step < 4; ++step) {
      FlatBuffer gradients[2] = {FlatBuffer(layout), FlatBuffer(layout)};
      for (FlatBuffer& buffer : gradients) {
        fill(layout, buffer, 100 + step, 0.1);
        const std::span<float> table = buffer.of(layout.slots[1]);
        std::ranges::fill(step % 2 == 0 ? table.first(kBlockElements + 7) : table.subspan(kBlockElements), 0.0F);
      }
      const std::vector<double> squares = squares_by_block(layout, gradients[1], serial());
      EXPECT_EQ(std::ranges::count(squares, 0.0), step % 2 == 0 ? 1 : 2);
      whole.step({.learning_rate = rate_at(3)}, weights[0], gradients[0]);
      sparse.step({.learning_rate = rate_at(3), .squares = squares}, weights[1], gradients[1]);
      EXPECT_EQ(std::memcmp(weights[0].data(), weights[1].data(), weights[0].size() * sizeof(float)), 0) << name;
      EXPECT_EQ(std::memcmp(whole.state().m.data(), sparse.state().m.data(), weights[0].size() * sizeof(float)), 0);
      EXPECT_TRUE(std::ranges::all_of(gradients[1].all(), [](float gradient) { return gradient == 0; }));
    }
  }
}

// One weight through one optimiser.
class OneWeight {
 public:
  OneWeight(const char* name, const AdamOptions& options, float first)
      : layout_(make_layout({{name, {1}}})),
        weights_(layout_),
        gradients_(layout_),
        adam_(start(first), options, weights_) {}
  float step(float gradient, double rate, double divisor = 1, bool zeroes = true) {
    gradients_.data()[0] = gradient;
    adam_.step({.learning_rate = rate, .divisor = divisor, .zeroes_gradients = zeroes}, weights_, gradients_);
    return weights_.data()[0];
  }
  float gradient() const { return gradients_.data()[0]; }
  const FlatBuffer& weights() const { return weights_; }

 private:
  const ParameterLayout& start(float first) {
    weights_.data()[0] = first;
    return layout_;
  }
  ParameterLayout layout_;
  FlatBuffer weights_, gradients_;
  Adam adam_;
};

// b1 = b2 = 0.5, eps = 1, decay 0.1, rate 1, from w = 2:
//   g = 2    m = 1       v = 2        w = 2      - (1 / (1.4142136 + 1) + 0.2)                = 1.3857864
//   g = 0    m = 0.5     v = 1        w = 1.3857864 - (0.5 / 2 + 0.13857864)                  = 0.9972078
//   g = -4   m = -1.75   v = 8.5      w = 0.9972078 - (-1.75 / (2.9154759 + 1) + 0.09972078)  = 1.3444314
//   g = 1    m = -0.375  v = 4.75     w = 1.3444314 - (-0.375 / (2.1794495 + 1) + 0.13444314) = 1.3279332
//   g = 0    m = -0.1875 v = 2.375    w = 1.3279332 - (-0.1875 / (1.5411035 + 1) + 0.13279332) = 1.2689267
TEST(Adam, TakesFiveStepsAsByHand) {
  OneWeight weight("weight", {.beta1 = 0.5, .beta2 = 0.5, .epsilon = 1, .weight_decay = 0.1}, 2);
  EXPECT_NEAR(weight.step(2, 1), 1.3857864, 1e-6);
  EXPECT_NEAR(weight.step(0, 1), 0.9972078, 1e-6);
  EXPECT_NEAR(weight.step(-4, 1), 1.3444314, 1e-6);
  EXPECT_NEAR(weight.step(1, 1), 1.3279332, 1e-6);
  EXPECT_NEAR(weight.step(0, 1), 1.2689267, 1e-6);
}

// The first step of XAdam is sqrt(1 - b2) / (1 - b1) times as long as that of AdamW, which is the rate itself.
TEST(Adam, CorrectsItsBiasOnlyAsAdamW) {
  constexpr double kExact = 1e-6;
  EXPECT_NEAR(OneWeight("bias", {.epsilon = 1e-12, .has_bias_correction = true}, 0).step(3, 0.5), -0.5, kExact);
  EXPECT_NEAR(OneWeight("bias", {.epsilon = 1e-12}, 0).step(3, 0.5), -0.5 * 0.1 / std::sqrt(0.001), kExact);
}

TEST(Adam, DecaysParametersWithoutAGradientButNoBiasAndNoNorm) {
  const AdamOptions options{.weight_decay = 0.1};
  EXPECT_FLOAT_EQ(OneWeight("dense.weight", options, 2).step(0, 0.5), 2 - 0.5F * 0.1F * 2);
  EXPECT_EQ(OneWeight("dense.bias", options, 2).step(0, 0.5), 2);
  EXPECT_EQ(OneWeight("LayerNorm.weight", options, 2).step(0, 0.5), 2);
}

TEST(Adam, DividesTheGradientAndZeroesItOnRequest) {
  OneWeight divided("weight", {}, 1), plain("weight", {}, 1);
  EXPECT_EQ(divided.step(96, 0.1, 32), plain.step(3, 0.1));
  EXPECT_EQ(divided.gradient(), 0);
  plain.step(3, 0.1, 1, false);
  EXPECT_EQ(plain.gradient(), 3);
}

TEST(Adam, LooksAheadEveryKthStepFromTheFirstWeights) {
  AdamOptions options;
  OneWeight plain("bias", options, 1);
  options.lookahead_k = 2;
  OneWeight slow("bias", options, 1);
  EXPECT_EQ(slow.step(1, 0.1), plain.step(1, 0.1));
  EXPECT_FLOAT_EQ(slow.step(1, 0.1), (1 + plain.step(1, 0.1)) / 2);
}

TEST(Adam, KeepsAveragesOfTheWeightsThatFollowTheFirstStepsSoon) {
  const ParameterLayout layout = test::make_case_layout();
  FlatBuffer weights(layout), gradients(layout);
  fill(layout, weights, 1, 1);
  const AdamOptions options{.average_decay = 0.5};
  Adam adam(layout, options, weights);
  std::vector<double> expected(weights.all().begin(), weights.all().end());
  for (int t = 1; t <= 12; ++t) {
    fill(layout, gradients, static_cast<uint64_t>(t), 0.1);
    adam.step({.learning_rate = 0.1}, weights, gradients);
    const double decay = std::min(0.5, (1.0 + t) / (10.0 + t));
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = decay * expected[i] + (1 - decay) * double{weights.all()[i]};
  }
  const auto stored_averages = adam.state().averages.all();
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(stored_averages[i], expected[i], 2e-6) << i;
}

TEST(Adam, TakesNoStepWhileItIsNotRectified) {
  OneWeight weight("weight", {.is_rectified = true}, 1);
  for (int step = 0; step < 4; ++step) EXPECT_EQ(weight.step(1, 0.1), 1);
  EXPECT_LT(weight.step(1, 0.1), 1);
}

TEST(Adam, KeepsTheRateOfASlot) {
  ParameterLayout layout = make_layout({{"a.weight", {1}}, {"b.weight", {1}}});
  layout.slots[1].rate = 0.25;
  FlatBuffer weights(layout), gradients(layout);
  for (const ParameterSlot& slot : layout.slots) weights.of(slot)[0] = gradients.of(slot)[0] = 1;
  Adam(layout, {}, weights).step({.learning_rate = 0.1}, weights, gradients);
  EXPECT_FLOAT_EQ(weights.of(layout.slots[1])[0] - 1, (weights.of(layout.slots[0])[0] - 1) / 4);
}

TEST(Adam, LeavesZerosBetweenTheSlots) {
  OneWeight weight("weight", {.lookahead_k = 1}, 1);
  weight.step(1, 0.1);
  for (const float value : weight.weights().all().subspan(1)) EXPECT_EQ(value, 0);
}

TEST(Adam, RefusesOptionsOutOfTheirRange) {
  const ParameterLayout layout = make_layout({});
  const FlatBuffer none(layout);
  const auto make = [&](const AdamOptions& options) { Adam(layout, options, none); };
  EXPECT_ERROR(make({.beta1 = 1}), kUsage, "adam_beta1: expected at least 0 and below 1, got 1");
  EXPECT_ERROR(make({.beta2 = -1}), kUsage, "adam_beta2: expected at least 0 and below 1, got -1");
  EXPECT_ERROR(make({.epsilon = 0}), kUsage, "adam_epsilon: expected a number above 0, got 0");
  EXPECT_ERROR(make({.weight_decay = -1}), kUsage, "weight_decay: expected at least 0, got -1");
  EXPECT_ERROR(make({.lookahead_alpha = 2}), kUsage, "lookahead_alpha: expected above 0 and at most 1, got 2");
  EXPECT_ERROR(make({.average_decay = 1}), kUsage, "ema_decay: expected at least 0 and below 1, got 1");
  EXPECT_ERROR(make({.has_bias_correction = true, .is_admax = true}), kUsage, "optimizer: expected no bias correction");
  EXPECT_ERROR(make({.has_bias_correction = true, .is_rectified = true}), kUsage, "expected no bias correction");
}

}  // namespace
}  // namespace deberta::train::adam_test
