// One step: losses of micro-batches add up and are divided once; what is not finite moves nothing.
#include "train/loop/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "train/loop/trainer_case.h"
#include "train/objectives/language_model.h"

namespace deberta::train {
namespace {

Model small_model() {
  return test::small_model(Head::kMaskedLm, 5);
}

// The label is the same everywhere in a sequence.
TrainBatch make_batch(uint32_t first, uint32_t sequences) {
  TrainBatch batch = test::small_batch(first, sequences);
  for (size_t n = 0; n < batch.labels_P.size(); ++n)
    batch.labels_P[n] = static_cast<int32_t>(4 + (first + n / 2 + 5) % 36);
  return batch;
}

AdamOptions adamw() {
  AdamOptions options;
  options.has_bias_correction = true;
  return options;
}

struct Case {
  Case() : trainer(small_model(), adamw(), serial()) { compute.kernels = select_kernels("auto"); }

  Compute compute;
  Trainer trainer;

  StepResult step(const std::vector<TrainBatch>& batches, Trainer::StepSettings settings = {.rate = 1e-3}) {
    std::vector<std::function<Loss()>> losses;
    const DropoutPlace place{.is_training = true, .seed = 1, .step = 3};
    for (const TrainBatch& batch : batches)
      losses.push_back([&] { return language_model_loss(trainer.model(), compute, batch, place); });
    return trainer.step(losses, settings);
  }
  std::vector<float> weights() { return {trainer.weights().all().begin(), trainer.weights().all().end()}; }
};

TEST(Trainer, MicroBatchesOfUnequalSizeMakeTheSameStepAsOne) {
  Case whole, parts;
  const StepResult a = whole.step({make_batch(0, 6)});
  const StepResult b = parts.step({make_batch(0, 1), make_batch(1, 4), make_batch(5, 1)});
  EXPECT_EQ(a.count, 12);
  EXPECT_EQ(b.count, 12);
  EXPECT_NEAR(b.loss, a.loss, 1e-5 * a.loss);
  EXPECT_NEAR(b.norm, a.norm, 1e-5 * a.norm);
  const std::vector<float> x = whole.weights(), y = parts.weights();
  float largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  EXPECT_LE(largest, 2e-4f)
      << "Adam's first step moves each weight by at most the rate; signs of tiny gradients may differ";
}

TEST(Trainer, RepeatedStepsLearn) {
  Case c;
  const StepResult first = c.step({make_batch(0, 4)});
  StepResult last;
  for (int i = 0; i < 30; ++i) last = c.step({make_batch(0, 4)}, {.rate = 1e-2});
  EXPECT_LT(last.loss, 0.7 * first.loss);
}

TEST(Trainer, AStepWithoutLabelsMovesNothing) {
  Case c;
  TrainBatch batch = make_batch(0, 2);
  batch.rows_P.clear();
  batch.labels_P.clear();
  const std::vector<float> before = c.weights();
  EXPECT_EQ(c.step({batch}).count, 0);
  EXPECT_EQ(c.weights(), before);
}

TEST(Trainer, ALossThatIsNotFiniteMovesNothingAndLeavesNoGradient) {
  Case c;
  const std::vector<float> before = c.weights();
  float& weight = c.trainer.weights().all()[0];
  weight = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(c.step({make_batch(0, 2)}).is_finite);
  weight = before[0];
  EXPECT_EQ(c.weights(), before);
  Case fresh;
  EXPECT_EQ(c.step({make_batch(0, 2)}).norm, fresh.step({make_batch(0, 2)}).norm);
}

TEST(Trainer, GradientsAreShownBeforeTheClip) {
  Case c;
  const TrainBatch batch = make_batch(0, 2);
  const std::function<Loss()> loss = [&] { return language_model_loss(c.trainer.model(), c.compute, batch, {}); };
  double squares = 0, count = 0;
  const StepResult result =
      c.trainer.step({&loss, 1}, {.rate = 0, .max_norm = 1e-3}, [&](const FlatBuffer& gradients, double labels) {
        for (const float value : gradients.all()) squares += double{value} * value;
        count = labels;
      });
  EXPECT_EQ(count, 4);
  EXPECT_NEAR(std::sqrt(squares) / count, result.norm, 1e-6 * result.norm);
  EXPECT_GT(result.norm, 1e-3);
}

}  // namespace
}  // namespace deberta::train
