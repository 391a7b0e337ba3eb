// The learner of fine-tuning: what its options make of a step.
#include "train/loop/task_learner.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/loop/trainer_case.h"

namespace deberta::train {
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
  std::vector<std::byte> moments;  // of the optimiser: the gradients, of a first step
};

Step first_step(TaskLoss loss, bool is_balanced, const std::vector<float>& weights) {
  FinetuneSettings settings{.steps = 1,
                            .samples_per_step = 4,
                            .class_weights = weights,
                            .balances_classes = is_balanced,
                            .learning_rate = 1e-3};
  const Workplace place({.threads = 1});
  Model model = test::small_model(loss == TaskLoss::kClass ? Head::kSequence : Head::kToken, 5, 3);
  const std::unique_ptr<Learner> learner = make_task_learner(settings, unequal_samples(loss), std::move(model), place);
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
    const Step balanced = first_step(loss, true, {}), given = first_step(loss, false, {2.0f / 3, 2, 1});
    EXPECT_NEAR(balanced.sums.at("divisor"), 4, 1e-6) << "the mean weight is 1";
    EXPECT_EQ(balanced.sums, given.sums);
    EXPECT_EQ(balanced.moments, given.moments);
    EXPECT_NE(balanced.moments, first_step(loss, false, {}).moments);
  }
}

}  // namespace
}  // namespace deberta::train
