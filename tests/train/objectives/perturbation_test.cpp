// Adversarial fine-tuning of every head: corrected losses against plain loops in double, what each pass draws, and what
// must not be touched. The original's outputs: perturbation_goldens_test.cpp.
#include "train/objectives/perturbation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "train/objectives/language_model.h"
#include "train/objectives/replay.h"
#include "train/objectives/task_case.h"

namespace deberta::train::perturbation_test {
namespace {

using namespace test;

constexpr uint32_t kItems = 4;
constexpr DropoutStream kTraining{.is_training = true, .seed = 5, .step = 3};
const AdversarialOptions kSift{.lambda = 3, .learning_rate = 1e-2, .deviation = 5e-2};

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

AdversarialLoss loss_of(const Model& model, const TaskCase& task, const TaskBatch& batch,
                        const AdversarialOptions& adversarial = kSift, const DropoutStream& dropout = kTraining) {
  return adversarial_loss(model, test_compute(), batch, {.loss = task.loss}, adversarial, dropout);
}

// Symmetric cross-entropy of two rows of logits.
double symmetric(const std::vector<double>& a, const std::vector<double>& b) {
  double sum_a = 0, sum_b = 0, result = 0;
  for (size_t c = 0; c < a.size(); ++c) {
    sum_a += std::exp(a[c]);
    sum_b += std::exp(b[c]);
  }
  for (size_t c = 0; c < a.size(); ++c) {
    const double p = std::exp(a[c]) / sum_a, q = std::exp(b[c]) / sum_b;
    result -= p * std::log(q) + q * std::log(p);
  }
  return result;
}

// A label by itself has two classes, whose logits are its own and 0.
double symmetric_label(double a, double b) {
  return symmetric({a, 0}, {b, 0});
}

// The corrected loss by plain loops: only rows that have a label count.
double expected_divergence(const TaskCase& task, const TaskBatch& batch, const std::vector<double>& clean,
                           const std::vector<double>& changed) {
  double sum = 0;
  const auto columns = static_cast<size_t>(task.labels);
  const auto add_rows = [&](size_t first, size_t last, size_t column) {
    std::vector<double> a, b;
    for (size_t n = first; n < last; ++n) {
      a.push_back(clean[n * columns + column]);
      b.push_back(changed[n * columns + column]);
    }
    return symmetric(a, b);
  };
  const auto add_classes = [&](size_t n) {
    const auto at = static_cast<int64_t>(n * columns), end = at + static_cast<int64_t>(columns);
    return symmetric({clean.begin() + at, clean.begin() + end}, {changed.begin() + at, changed.begin() + end});
  };
  if (task.loss == TaskLoss::kScore) {
    for (size_t n = 0; n < clean.size(); ++n) sum += (clean[n] - changed[n]) * (clean[n] - changed[n]);
  } else if (task.loss == TaskLoss::kLabels) {
    for (size_t n = 0; n < clean.size(); ++n) sum += symmetric_label(clean[n], changed[n]);
  } else if (task.loss == TaskLoss::kMention) {
    for (size_t m = 0; m < clean.size(); ++m) {
      if (batch.mentions[m] < batch.mentions[m + 1]) sum += symmetric_label(clean[m], changed[m]);
    }
  } else if (task.loss == TaskLoss::kChoice) {
    for (size_t q = 0; q < batch.right_Q.size(); ++q) {
      if (batch.right_Q[q] < 0) continue;
      sum += add_rows(static_cast<size_t>(batch.questions[q]), static_cast<size_t>(batch.questions[q + 1]), 0);
    }
  } else if (task.loss == TaskLoss::kSpan) {
    size_t first = 0;
    for (size_t b = 0; b < batch.input.sequences(); ++b) {
      size_t last = first;
      for (int32_t t = batch.input.starts[b]; t < batch.input.starts[b + 1]; ++t) {
        last += batch.input.mask_T[static_cast<size_t>(t)];
      }
      sum += (add_rows(first, last, 0) + add_rows(first, last, 1)) / 2;
      first = last;
    }
  } else {
    const std::vector<int32_t>& labels = task.loss == TaskLoss::kTokens ? batch.input.labels_P : batch.classes_B;
    for (size_t n = 0; n < clean.size() / columns; ++n) {
      if (task.has_distributions || labels[n] >= 0) sum += add_classes(n);
    }
  }
  return sum;
}

TEST(Perturbation, OfEveryHeadHasTheCorrectedLossOfPlainLoops) {
  for (const TaskCase& task : task_cases()) {
    for (const bool normalises : {true, false}) {
      const Model model = make_tiny(form_of(task), at::kDouble);
      const TaskBatch batch = make_task(task, 0, kItems);
      AdversarialOptions options = kSift;
      options.normalises_inputs = normalises;
      const AdversarialLoss result = loss_of(model, task, batch, options);
      const double expected =
          expected_divergence(task, batch, values_of(result.clean_NC), values_of(result.adversarial_NC));
      EXPECT_NEAR(result.adversarial, expected, 1e-11) << task.name;
      EXPECT_NEAR(result.loss.sum.item<double>(), result.task + 3 * expected, 1e-10) << task.name;
    }
  }
}

// The mistake of the published code: a softmax over the batch, constant for a batch of one.
TEST(Perturbation, OfAScoreAloneIsNotConstant) {
  const TaskCase task = task_cases()[2];
  const Model model = make_tiny(form_of(task), at::kDouble);
  const TaskBatch single = make_task(task, 1, 1);
  EXPECT_GT(loss_of(model, task, single).adversarial, 1e-9);
  EXPECT_GT(loss_of(model, task, single).delta_gradient_TD.abs().max().item<double>(), 1e-9);
  AdversarialOptions original = kSift;
  original.is_original = true;
  EXPECT_EQ(loss_of(model, task, single, original).adversarial, 0);
}

// Up the gradient: by the rate where it is largest, so by no more anywhere.
TEST(Perturbation, MovesEachPositionByTheRate) {
  const TaskCase task = task_cases()[3];
  const AdversarialLoss result = loss_of(make_tiny(form_of(task), at::kDouble), task, make_task(task, 0, kItems));
  const at::Tensor gradient_TD = result.delta_gradient_TD, largest_T1 = gradient_TD.abs().amax(1, true);
  const at::Tensor expected_TD = result.delta0_TD + 1e-2 * gradient_TD / (1e-6 + largest_T1);
  EXPECT_LE(worst_difference(result.delta_TD, expected_TD), 1e-9);
  EXPECT_GT(worst_difference(result.delta_TD, result.delta0_TD), 1e-3);
}

// The logits that are compared are those of the moved inputs, by the same measure whichever found delta.
TEST(Perturbation, ComparesTheLogitsOfTheMovedInputs) {
  const TaskCase task = task_cases()[3];
  const Model model = make_tiny(form_of(task), at::kDouble);
  const TaskBatch batch = make_task(task, 0, kItems);
  for (const DivergenceKind kind : {DivergenceKind::kSymmetricKl, DivergenceKind::kKl, DivergenceKind::kSquared}) {
    AdversarialOptions options = kSift;
    options.kind = kind;
    const AdversarialLoss result = loss_of(model, task, batch, options, {});
    const Pass pass = make_pass(model, test_compute(), input_of(batch.input), {});
    const at::Tensor moved_TD = result.inputs_TD + result.delta_TD;
    const at::Tensor moved_NC = task_logits(pass, model, task.loss, batch, moved_TD).logits_NC;
    EXPECT_LE(worst_difference(result.adversarial_NC, moved_NC), 1e-12);
    const double expected =
        expected_divergence(task, batch, values_of(result.clean_NC), values_of(result.adversarial_NC));
    EXPECT_NEAR(result.adversarial, expected, 1e-11);
  }
}

TEST(Perturbation, FindsDeltaWithoutTouchingTheGradientsOfParameters) {
  for (const TaskCase& task : task_cases()) {
    Model model = make_tiny(form_of(task));
    loss_of(model, task, make_task(task, 0, kItems));
    for (const NamedParameter& parameter : trained_parameters(model)) {
      EXPECT_FALSE(parameter.tensor.grad().defined()) << task.name << ": " << parameter.name;
    }
  }
}

// The words get the gradient of the task and of the clean logits: the changed logits are a constant for them.
TEST(Perturbation, GivesTheWordsNoGradientThroughTheChangedInputs) {
  const TaskCase task = task_cases()[3];
  Model model = make_tiny(form_of(task), at::kDouble);
  const TaskBatch batch = make_task(task, 0, kItems);
  const AdversarialLoss result = loss_of(model, task, batch, kSift, {});
  result.loss.sum.backward();
  const at::Tensor got = model.embeddings.word_VE.grad().clone();
  model.embeddings.word_VE.mutable_grad().zero_();
  const TaskLogits clean = [&] {
    const Pass pass = make_pass(model, test_compute(), input_of(batch.input), {});
    const at::Tensor sum_TD = sum_embeddings(pass, model.embeddings);
    const at::Tensor mean_T1 = sum_TD.mean(1, true), deviation_T1 = (sum_TD.var(1, false, true) + 1e-7).sqrt();
    const at::Tensor inputs_TD = (sum_TD - mean_T1) / deviation_T1;
    return task_logits(pass, model, task.loss, batch, inputs_TD);
  }();
  const Comparison comparison = compare_task(clean, batch, {.loss = task.loss});
  (task_loss(clean, batch, {.loss = task.loss}).sum +
   3 * divergence(DivergenceKind::kSymmetricKl, result.adversarial_NC, clean.logits_NC, comparison))
      .backward();
  EXPECT_LE(worst_difference(got, model.embeddings.word_VE.grad()), 1e-9);
}

// Bit for bit.
TEST(Perturbation, WithLambdaZeroIsPlainFineTuning) {
  for (const TaskCase& task : task_cases()) {
    Model model = make_tiny(form_of(task));
    const TaskBatch batch = make_task(task, 0, kItems);
    AdversarialOptions none = kSift;
    none.lambda = 0;
    const auto plain = [&] { return task_loss(model, test_compute(), batch, {.loss = task.loss}, kTraining); };
    const auto with_none = [&] { return loss_of(model, task, batch, none).loss; };
    const ReplayedStep expected = replay_step(model, {plain}), got = replay_step(model, {with_none});
    EXPECT_EQ(expected.loss, got.loss) << task.name;
    for (size_t n = 0; n < got.gradients.size(); ++n) {
      EXPECT_TRUE(expected.gradients[n].gradient.equal(got.gradients[n].gradient)) << task.name;
    }
  }
}

TEST(Perturbation, OfMicroBatchesIsThatOfTheWhole) {
  for (const TaskCase& task : task_cases()) {
    Model model = make_tiny(form_of(task), at::kDouble);
    const TaskBatch whole = make_task(task, 0, kItems), first = make_task(task, 0, 2), rest = make_task(task, 2, 2);
    const auto of = [&](const TaskBatch& batch) { return [&] { return loss_of(model, task, batch).loss; }; };
    const ReplayedStep single = replay_step(model, {of(whole)}), two = replay_step(model, {of(first), of(rest)});
    EXPECT_NEAR(single.loss, two.loss, 1e-10) << task.name;
    for (size_t n = 0; n < single.gradients.size(); ++n) {
      const NamedGradient& gradient = single.gradients[n];
      EXPECT_LE(worst_difference(gradient.gradient, two.gradients[n].gradient), 1e-9) << task.name << gradient.name;
    }
  }
}

TEST(Perturbation, BeginsWithClampedNormalsOfEachPlace) {
  const TaskCase task = task_cases()[0];
  const Model model = make_tiny(form_of(task));
  const auto draw = [&](uint32_t first, uint32_t count, const DropoutStream& dropout) {
    const TaskBatch batch = make_task(task, first, count);
    return draw_perturbation(make_pass(model, test_compute(), input_of(batch.input), dropout), 0.05);
  };
  const at::Tensor whole_TD = draw(0, 40, kTraining);
  EXPECT_LE(whole_TD.abs().max().item<double>(), 0.1 + 1e-8);
  EXPECT_NEAR(whole_TD.mean().item<double>(), 0, 0.003);
  EXPECT_NEAR(whole_TD.std().item<double>(), 0.05 * 0.9594, 0.002);  // 0.9594: deviation of a normal clamped at 2
  const int64_t before = draw(0, 39, kTraining).size(0);
  EXPECT_TRUE(whole_TD.slice(0, before).equal(draw(39, 1, kTraining)));
  EXPECT_FALSE(whole_TD.equal(draw(0, 40, {.is_training = true, .seed = 5, .step = 4})));
  EXPECT_FALSE(whole_TD.equal(draw(0, 40, {.is_training = true, .seed = 6, .step = 3})));
}

// Without a perturbation, only dropout sets the passes apart.
TEST(Perturbation, DropsOtherElementsInEachPass) {
  const TaskCase task = task_cases()[3];
  const Model model = make_tiny(form_of(task));
  AdversarialOptions still = kSift;
  still.learning_rate = still.deviation = 0;
  const TaskBatch batch = make_task(task, 0, kItems);
  const AdversarialLoss training = loss_of(model, task, batch, still);
  EXPECT_FALSE(training.clean_NC.equal(training.perturbed_NC));
  EXPECT_FALSE(training.clean_NC.equal(training.adversarial_NC));
  EXPECT_FALSE(training.perturbed_NC.equal(training.adversarial_NC));
  const AdversarialLoss still_one = loss_of(model, task, batch, still, {});
  EXPECT_TRUE(still_one.clean_NC.equal(still_one.perturbed_NC));
  EXPECT_TRUE(still_one.clean_NC.equal(still_one.adversarial_NC));
}

TEST(Perturbation, KeepsDeltaWhereItsGradientIsNotFinite) {
  const TaskCase task = task_cases()[3];
  const Model model = make_tiny(form_of(task));
  model.head.classifier.bias_O.detach().fill_(std::numeric_limits<float>::quiet_NaN());
  const AdversarialLoss result = loss_of(model, task, make_task(task, 0, kItems));
  EXPECT_FALSE(std::isfinite(result.delta_gradient_TD.norm().item<double>()));
  EXPECT_TRUE(result.delta_TD.equal(result.delta0_TD));
}

TEST(Perturbation, OfABatchWithoutLabelsIsNone) {
  const TaskCase task = task_cases()[0];
  TaskBatch batch = make_task(task, 0, 2);
  batch.classes_B = {-1, -1};
  const AdversarialLoss result = loss_of(make_tiny(form_of(task)), task, batch);
  EXPECT_EQ(result.loss.count, 0);
  EXPECT_FALSE(result.delta_TD.defined());
}

}  // namespace
}  // namespace deberta::train::perturbation_test
