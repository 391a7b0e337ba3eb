// One step: losses of micro-batches add up and are divided once; what is not finite moves nothing.
#include "train/step/trainer.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <vector>

#include "train/objectives/language_model.h"
#include "train/ops/packed_store.h"
#include "train/run/batch_size_search.h"
#include "train/step/trainer_case.h"

namespace deberta::train::trainer_test {
namespace {

Model small_model() {
  return test::small_model(Head::kMaskedLm, 5);
}

// The label is the same everywhere in a sequence.
TrainBatch labelled_batch(uint32_t first, uint32_t sequences) {
  TrainBatch batch = test::small_batch(first, sequences);
  for (size_t n = 0; n < batch.labels_P.size(); ++n)
    batch.labels_P[n] = static_cast<int32_t>(4 + (first + n / 2 + 5) % 36);
  return batch;
}

OptimizerOptions adamw() {
  OptimizerOptions options;
  options.adam.has_bias_correction = true;
  return options;
}

struct Case {
  explicit Case(const OptimizerOptions& options = adamw())
      : compute{.kernels = select_kernels("auto")}, trainer(small_model(), options, compute) {}

  Compute compute;
  Trainer trainer;

  StepResult step(const std::vector<TrainBatch>& batches, Trainer::StepSettings settings = {.rate = 1e-3}) {
    std::vector<std::function<Loss()>> losses;
    const DropoutStream dropout{.is_training = true, .seed = 1, .step = 3};
    for (const TrainBatch& batch : batches)
      losses.push_back([&] { return language_model_loss(trainer.model(), compute, batch, dropout); });
    return trainer.step(losses, settings);
  }
  std::vector<float> weights() {
    return {trainer.group().weights().all().begin(), trainer.group().weights().all().end()};
  }
};

TEST(Trainer, MicroBatchesOfUnequalSizeMakeTheSameStepAsOne) {
  Case whole, parts;
  const StepResult a = whole.step({labelled_batch(0, 6)});
  const StepResult b = parts.step({labelled_batch(0, 1), labelled_batch(1, 4), labelled_batch(5, 1)});
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

TEST(Trainer, WeightsThatAreKeptPackedForAStepChangeNoBit) {
  Case kept, plain;
  PackedStore store;
  kept.compute.store = &store;
  const std::vector<TrainBatch> parts = {labelled_batch(0, 1), labelled_batch(1, 4), labelled_batch(5, 1)};
  for (int step = 0; step < 3; ++step) {
    const StepResult a = kept.step(parts, {.rate = 1e-2, .store = &store}), b = plain.step(parts, {.rate = 1e-2});
    EXPECT_EQ(a.loss, b.loss) << step;
    EXPECT_EQ(a.norm, b.norm) << step;
  }
  EXPECT_EQ(kept.weights(), plain.weights());
}

// AdamW's first step moves each weight that has a gradient by the rate. Of two layers.
TEST(Trainer, TensorsMoveByTheRateOfTheirLayer) {
  OptimizerOptions options = adamw();
  options.adam.weight_decay = 0;
  options.adam.epsilon = 1e-12;
  options.rates = {.head = 2, .decay = .5};
  Case c(options);
  const std::vector<float> before = c.weights();
  c.step({labelled_batch(0, 4)});
  const std::vector<float> after = c.weights();
  for (const ParameterSlot& slot : c.trainer.group().layout().slots) {
    float moved = 0;
    for (size_t i = slot.offset; i < slot.offset + slot.count; ++i) moved = std::max(moved, after[i] - before[i]);
    const double factor = slot.name.starts_with("lm_predictions")    ? 2
                          : slot.name.starts_with("encoder.layer.1") ? .5
                          : slot.name.starts_with("encoder.layer.0") ? .25
                                                                     : .125;
    EXPECT_NEAR(moved, 1e-3 * factor, 5e-5 * factor) << slot.name;
  }
}

TEST(Trainer, RepeatedStepsLearn) {
  Case c;
  const StepResult first = c.step({labelled_batch(0, 4)});
  StepResult last;
  for (int i = 0; i < 30; ++i) last = c.step({labelled_batch(0, 4)}, {.rate = 1e-2});
  EXPECT_LT(last.loss, 0.7 * first.loss);
}

TEST(Trainer, AStepWithoutLabelsMovesNothing) {
  Case c;
  TrainBatch batch = labelled_batch(0, 2);
  batch.rows_P.clear();
  batch.labels_P.clear();
  const std::vector<float> before = c.weights();
  EXPECT_EQ(c.step({batch}).count, 0);
  EXPECT_EQ(c.weights(), before);
}

TEST(Trainer, ALossThatIsNotFiniteMovesNothingAndLeavesNoGradient) {
  Case c;
  const std::vector<float> before = c.weights();
  float& weight = c.trainer.group().weights().all()[0];
  weight = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(c.step({labelled_batch(0, 2)}).is_finite);
  weight = before[0];
  EXPECT_EQ(c.weights(), before);
  Case fresh;
  EXPECT_EQ(c.step({labelled_batch(0, 2)}).norm, fresh.step({labelled_batch(0, 2)}).norm);
}

OptimizerOptions scaled(double scale) {
  OptimizerOptions options = adamw();
  options.loss_scale = scale;
  return options;
}

TEST(Trainer, AScaleOfTheLossThatIsAPowerOfTwoChangesNoBit) {
  Case plain, c(scaled(16384));
  const StepResult a = plain.step({labelled_batch(0, 2), labelled_batch(2, 3)}),
                   b = c.step({labelled_batch(0, 2), labelled_batch(2, 3)});
  EXPECT_EQ(b.norm, a.norm);
  EXPECT_EQ(b.loss, a.loss);
  EXPECT_EQ(c.weights(), plain.weights());
}

// The root of 0 times a weight is 0, and its gradient is not a number.
TEST(Trainer, AStepWhoseGradientsOverflowIsTakenAgainWithHalfTheScale) {
  Case plain, c(scaled(16384));
  const StepResult expected = plain.step({labelled_batch(0, 2)});
  int calls = 0;
  const std::function<Loss()> loss = [&] {
    Loss result = language_model_loss(c.trainer.model(), c.compute, labelled_batch(0, 2),
                                      {.is_training = true, .seed = 1, .step = 3});
    if (++calls <= 3) result.sum = result.sum + (c.trainer.model().embeddings.word_VE.sum() * 0).sqrt();
    return result;
  };
  const StepResult step_result = c.trainer.step({&loss, 1}, {.rate = 1e-3});
  EXPECT_TRUE(step_result.is_finite);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(c.trainer.group().loss_scale().value(), 2048);
  EXPECT_EQ(step_result.loss, expected.loss);
  EXPECT_EQ(step_result.count, expected.count);
  EXPECT_EQ(step_result.norm, expected.norm);
  EXPECT_EQ(c.weights(), plain.weights());
}

TEST(Trainer, ALossThatIsNotFiniteLosesItsStepAndKeepsTheScale) {
  Case c(scaled(16384));
  float& weight = c.trainer.group().weights().all()[0];
  weight = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(c.step({labelled_batch(0, 2)}).is_finite);
  EXPECT_EQ(c.trainer.group().loss_scale().value(), 16384);
}

TEST(Trainer, AveragesChangePlacesWithTheWeightsAndBack) {
  OptimizerOptions options = adamw();
  options.adam.average_decay = 0.9;
  Case c(options);
  const std::vector<float> first = c.weights();
  c.step({labelled_batch(0, 2)});
  const std::vector<float> moved = c.weights();
  c.trainer.group().exchange_averages();
  const std::vector<float> averages = c.weights();
  EXPECT_NE(averages, moved);
  for (size_t i = 0; i < first.size(); ++i)
    ASSERT_NEAR(averages[i], first[i] * 2 / 11 + moved[i] * 9 / 11, 1e-6f) << "the decay of step 1 is 2 / 11";
  c.trainer.group().exchange_averages();
  EXPECT_EQ(c.weights(), moved);
}

TEST(Trainer, GradientsAreShownBeforeTheClip) {
  Case c;
  const TrainBatch batch = labelled_batch(0, 2);
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

// The run knows no torch, and takes its word for it.
TEST(Trainer, MemoryThatLibTorchDoesNotGetIsKnownByItsMessage) {
  const auto is_memory = [](const char* message) {
    try {
      TORCH_CHECK(false, message);
    } catch (const std::exception& error) {
      return is_out_of_memory(error);
    }
    return false;
  };
  EXPECT_TRUE(is_memory("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"));
  EXPECT_FALSE(is_memory("sizes differ"));
}

}  // namespace
}  // namespace deberta::train::trainer_test
