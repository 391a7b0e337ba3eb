// The learner of fine-tuning: what its options make of a step.
#include "train/finetune/task_learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "train/step/trainer_case.h"

namespace deberta::train::task_learner_test {
namespace {

// Three labels are of class 0, one of class 1 and none of class 2.
TaskSamples unequal_samples(TaskLoss loss) {
  TaskSamples samples{.loss = loss, .labels = {"a", "b", "c"}};
  for (int32_t number = 0; number < 4; ++number) {
    TaskSample sample{.sequences = {{.ids = {1, 5 + number, 9, 12 + 3 * number, 2}, .second = 5}}};
    const int32_t label = number == 2 ? 1 : 0;
    if (loss == TaskLoss::kClass) sample.label = label;
    if (loss == TaskLoss::kTokens) sample.tags = {{1, label}};
    samples.samples.push_back(std::move(sample));
  }
  return samples;
}

struct Step {
  Sums sums;
  std::vector<std::byte> moments;  // the optimiser's moments: after a first step, the gradients
  Metrics metrics = {};
  std::string hash = {};  // hash of what is trained on
};

Step first_step(TaskLoss loss, bool is_balanced, const std::vector<float>& weights) {
  FinetuneSettings settings{.steps = 1,
                            .samples_per_step = 4,
                            .objective = {.class_weights = weights, .balances_classes = is_balanced},
                            .rates = {.learning_rate = 1e-3}};
  const Workplace workplace({.threads = 1});
  Model model = test::small_model(loss == TaskLoss::kClass ? Head::kSequence : Head::kToken, 5, 3);
  const std::unique_ptr<Learner> learner =
      make_task_learner(settings, unequal_samples(loss), std::move(model), workplace);
  Step step;
  learner->begin(0);
  learner->step({}, step.sums);
  for (const TensorView& tensor : learner->optimizer_tensors())
    step.moments.insert(step.moments.end(), tensor.bytes.begin(), tensor.bytes.end());
  return step;
}

// 4 labels of 2 classes: each class counts 2, whatever its labels are.
TEST(TaskLearner, BalancedClassesWeighByTheInverseOfTheirCounts) {
  for (const TaskLoss loss : {TaskLoss::kClass, TaskLoss::kTokens}) {
    const Step balanced = first_step(loss, true, {}), weighted = first_step(loss, false, {2.0f / 3, 2, 1});
    EXPECT_NEAR(balanced.sums.at("divisor"), 4, 1e-6) << "the mean weight is 1";
    EXPECT_EQ(balanced.sums, weighted.sums);
    EXPECT_EQ(balanced.moments, weighted.moments);
    EXPECT_NE(balanced.moments, first_step(loss, false, {}).moments);
  }
}

Step weighted_step(std::vector<float> weights, size_t accumulation) {
  const FinetuneSettings settings{
      .steps = 1, .samples_per_step = 4, .accumulation = accumulation, .rates = {.learning_rate = 1e-3}};
  const Workplace workplace({.threads = 1});
  TaskSamples samples = unequal_samples(TaskLoss::kClass);
  samples.has_weights = !weights.empty();
  for (size_t n = 0; n < weights.size(); ++n) samples.samples[n].weight = weights[n];
  const auto learner =
      make_task_learner(settings, std::move(samples), test::small_model(Head::kSequence, 5, 3), workplace);
  Step step;
  learner->begin(0);
  learner->step({}, step.sums);
  step.metrics = learner->metrics(step.sums);
  step.hash = learner->hashes().at("training files and tokenizer");
  return step;
}

// Over the whole step, however its rows lie in parts.
TEST(TaskLearner, ALossOfWeightedRowsIsTheMeanByTheirWeights) {
  const Step whole = weighted_step({1, 5, 2, 0.5f}, 1), parts = weighted_step({1, 5, 2, 0.5f}, 4);
  EXPECT_EQ(whole.sums.at("divisor"), 8.5);
  EXPECT_EQ(parts.sums.at("divisor"), 8.5);
  EXPECT_EQ(whole.sums.at("labels"), 4);
  EXPECT_NEAR(whole.sums.at("loss"), parts.sums.at("loss"), 1e-5);
  EXPECT_EQ(whole.metrics[0].first, "loss");
  EXPECT_DOUBLE_EQ(whole.metrics[0].second, whole.sums.at("loss") / 8.5);
  const Step equal = weighted_step({3, 3, 3, 3}, 1), plain = weighted_step({}, 1);
  EXPECT_NEAR(equal.metrics[0].second, plain.metrics[0].second, 1e-6);
  EXPECT_GT(std::abs(whole.metrics[0].second - plain.metrics[0].second), 1e-4);
}

TEST(TaskLearner, WeightsAreOfTheRun) {
  const std::string hash = weighted_step({1, 5, 2, 0.5f}, 1).hash;
  EXPECT_EQ(hash, weighted_step({1, 5, 2, 0.5f}, 2).hash);
  EXPECT_NE(hash, weighted_step({1, 5, 2, 1}, 1).hash);
  EXPECT_NE(weighted_step({1, 1, 1, 1}, 1).hash, weighted_step({}, 1).hash);
}

constexpr double kRate = 1e-3;

// The moments after a step at that part of the rates, and one more: they show where the first has moved the weights.
Step second_step(const TaskRates& rates, double factor = 1) {
  const FinetuneSettings settings{.steps = 2, .samples_per_step = 4, .rates = rates};
  const Workplace workplace({.threads = 1});
  const std::unique_ptr<Learner> learner = make_task_learner(settings, unequal_samples(TaskLoss::kClass),
                                                             test::small_model(Head::kSequence, 5, 3), workplace);
  Step step;
  learner->begin(0);
  for (int64_t n = 0; n < 2; ++n) learner->step({.step = n, .factor = factor}, step.sums);
  for (const TensorView& tensor : learner->optimizer_tensors())
    step.moments.insert(step.moments.end(), tensor.bytes.begin(), tensor.bytes.end());
  step.metrics = learner->metrics(step.sums);
  return step;
}

TEST(TaskLearner, TheHeadsRateIsItsOwnTimesTheScheduleWhateverTheOtherIs) {
  const Step plain = second_step({.learning_rate = kRate}),
             own = second_step({.learning_rate = kRate, .head_learning_rate = 4e-3});
  EXPECT_EQ(second_step({.learning_rate = kRate, .head_learning_rate = kRate}).moments, plain.moments);
  EXPECT_NE(own.moments, plain.moments);
  EXPECT_EQ(second_step({.learning_rate = 2e-3, .head_learning_rate = 8e-3}, .5).moments, own.moments);
  const Metrics metrics = second_step({.learning_rate = kRate, .head_learning_rate = 4e-3}, .25).metrics;
  const auto logged = std::ranges::find(metrics, "head_learning_rate", &Metrics::value_type::first);
  ASSERT_NE(logged, metrics.end());
  EXPECT_DOUBLE_EQ(logged->second, 1e-3);
  EXPECT_EQ(std::ranges::find(plain.metrics, "head_learning_rate", &Metrics::value_type::first), plain.metrics.end());
}

TEST(TaskLearner, LayersBelowTheHeadHaveTheDecayedRate) {
  const Step decayed = second_step({.learning_rate = kRate, .layer_decay = .5});
  EXPECT_NE(decayed.moments, second_step({.learning_rate = kRate}).moments);
  EXPECT_NE(decayed.moments, second_step({.learning_rate = 5e-4}).moments);
}

TEST(TaskLearner, RatesThatCannotBeAreRefusedBeforeAFileIsRead) {
  const auto read = [](const TaskRates& rates) { return read_training({.rates = rates}, {}); };
  for (const double decay : {0.0, -.5, 1.5, std::nan("")})
    EXPECT_ERROR(read({.layer_decay = decay}), kUsage, "layer_decay: expected a number above 0 and at most 1, got ");
  EXPECT_ERROR(read({.head_learning_rate = 0}), kUsage, "head_learning_rate: expected a number above 0, got 0");
  EXPECT_ERROR(read({.learning_rate = 0, .head_learning_rate = 1e-3}), kUsage,
               "learning_rate: expected a number above 0 beside a rate of the head's own, got 0");
}

}  // namespace
}  // namespace deberta::train::task_learner_test
