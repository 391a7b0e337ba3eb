// Fine-tuning of every head: losses against plain loops in double, gradients against finite differences, and how items
// and micro-batches add up.
// C classes
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "train/objectives/language_model.h"
#include "train/objectives/replay.h"
#include "train/objectives/task_case.h"

namespace deberta::train::task_test {
namespace {

using namespace test;

constexpr uint32_t kItems = 4;
constexpr DropoutStream kTraining{.is_training = true, .seed = 5, .step = 3};

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

// -log softmax at `label` among `logits`; with smoothing also at every other.
double entropy(const std::vector<double>& logits, size_t label, double smoothing = 0) {
  double sum = 0, even = 0;
  for (const double logit : logits) sum += std::exp(logit);
  for (const double logit : logits) even += std::log(sum) - logit;
  return (1 - smoothing) * (std::log(sum) - logits[label]) + smoothing * even / static_cast<double>(logits.size());
}

double binary(double logit, double label) {
  return -label * std::log(1 / (1 + std::exp(-logit))) - (1 - label) * std::log(1 / (1 + std::exp(logit)));
}

struct Expected {
  double sum = 0, divisor = 0;
};

// By the definitions of model-training.md#fine-tuning, from logits in the order of the batch.
struct PlainLoops {
  const TaskCase& task;
  const TaskBatch& batch;
  const TaskOptions& options;
  std::vector<double> logits;

  size_t classes() const { return static_cast<size_t>(task.labels); }
  std::vector<double> row(size_t n) const {
    return {logits.begin() + static_cast<int64_t>(n * classes()),
            logits.begin() + static_cast<int64_t>((n + 1) * classes())};
  }
  double weight(size_t label) const {
    return options.class_weights_C.empty() ? 1 : double{options.class_weights_C[label]};
  }
  Expected of_classes(const std::vector<int32_t>& labels) const {
    Expected result;
    for (size_t n = 0; n < labels.size(); ++n) {
      if (labels[n] < 0) continue;
      const auto label = static_cast<size_t>(labels[n]);
      const double smoothing = options.label_smoothing;
      result.sum += weight(label) * (1 - smoothing) * entropy(row(n), label);
      for (size_t c = 0; c < classes(); ++c) {
        result.sum += weight(c) * smoothing / static_cast<double>(classes()) * entropy(row(n), c);
      }
      result.divisor += weight(label);
    }
    return result;
  }
  Expected of_distributions() const {
    Expected result;
    for (size_t n = 0; n < batch.input.sequences(); ++n, ++result.divisor) {
      for (size_t c = 0; c < classes(); ++c) {
        const double share = double{batch.values_BC[n * classes() + c]} * (1 - options.label_smoothing) +
                             options.label_smoothing / static_cast<double>(classes());
        result.sum += weight(c) * share * entropy(row(n), c);
      }
    }
    return result;
  }
  Expected of_values() const {
    Expected result;
    for (size_t n = 0; n < logits.size(); ++n, ++result.divisor) {
      const double value = batch.values_BC[n], error = logits[n] - value;
      result.sum += task.loss == TaskLoss::kScore ? error * error : binary(logits[n], value);
    }
    return result;
  }
  // Tokens that are not masked are all that a span can begin or end at.
  Expected of_spans() const {
    Expected result;
    size_t n = 0;
    for (size_t b = 0; b < batch.input.sequences(); ++b, ++result.divisor) {
      std::vector<double> first, last;
      size_t first_label = 0, last_label = 0;
      for (int32_t t = batch.input.starts[b]; t < batch.input.starts[b + 1]; ++t) {
        if (batch.input.mask_T[static_cast<size_t>(t)] == 0) continue;
        if (t == batch.first_B[b]) first_label = first.size();
        if (t == batch.last_B[b]) last_label = last.size();
        first.push_back(logits[2 * n]);
        last.push_back(logits[2 * n++ + 1]);
      }
      result.sum +=
          (entropy(first, first_label, options.label_smoothing) + entropy(last, last_label, options.label_smoothing)) /
          2;
    }
    return result;
  }
  Expected of_choices() const {
    Expected result;
    for (size_t q = 0; q < batch.right_Q.size(); ++q) {
      if (batch.right_Q[q] < 0) continue;
      const std::vector<double> choices{logits.begin() + batch.questions[q], logits.begin() + batch.questions[q + 1]};
      result.sum += entropy(choices, static_cast<size_t>(batch.right_Q[q]), options.label_smoothing);
      ++result.divisor;
    }
    return result;
  }
  Expected of_mentions() const {
    Expected result;
    for (size_t m = 0; m < batch.right_M.size(); ++m) {
      if (batch.mentions[m] == batch.mentions[m + 1]) {
        EXPECT_EQ(logits[m], -10000);
        continue;
      }
      result.sum += binary(logits[m], double{batch.right_M[m]});
      ++result.divisor;
    }
    return result;
  }
  Expected run() const {
    switch (task.loss) {
      case TaskLoss::kClass:
        return task.has_distributions ? of_distributions() : of_classes(batch.classes_B);
      case TaskLoss::kScore:
      case TaskLoss::kLabels:
        return of_values();
      case TaskLoss::kTokens:
        return of_classes(batch.input.labels_P);
      case TaskLoss::kSpan:
        return of_spans();
      case TaskLoss::kChoice:
        return of_choices();
      case TaskLoss::kMention:
        return of_mentions();
      case TaskLoss::kRanking:     // ranking_test.cpp
      case TaskLoss::kExtraction:  // extraction_test.cpp
        break;
    }
    return {};
  }
};

TaskLogits logits_of(const Model& model, const TaskCase& task, const TaskBatch& batch,
                     const DropoutStream& dropout = {}) {
  const Pass pass = make_pass(model, test_compute(), input_of(batch.input), dropout);
  return task_logits(pass, model, task.loss, batch, sum_embeddings(pass, model.embeddings));
}

void check_loss(const TaskCase& task, const TaskOptions& options) {
  const Model model = make_tiny(form_of(task), at::kDouble);
  const TaskBatch batch = make_task(task, 0, kItems);
  const TaskLogits logits = logits_of(model, task, batch);
  const Expected expected = PlainLoops{task, batch, options, values_of(logits.logits_NC)}.run();
  const Loss loss = task_loss(model, test_compute(), batch, options, {});
  EXPECT_NEAR(loss.sum.item<double>(), expected.sum, 1e-11) << task.name << ", smoothing " << options.label_smoothing;
  EXPECT_NEAR(loss.divisor(), expected.divisor, 1e-6) << task.name;
  EXPECT_GT(loss.count, 0) << task.name;
  EXPECT_LE(loss.correct, loss.count) << task.name;
}

TEST(TaskLoss, OfEveryHeadIsThatOfPlainLoops) {
  for (const TaskCase& task : task_cases()) check_loss(task, {.loss = task.loss});
}

TEST(TaskLoss, WithSmoothedLabelsIsThatOfPlainLoops) {
  for (const TaskCase& task : task_cases()) {
    const bool is_entropy = task.loss == TaskLoss::kClass || task.loss == TaskLoss::kTokens ||
                            task.loss == TaskLoss::kSpan || task.loss == TaskLoss::kChoice;
    if (is_entropy) check_loss(task, {.loss = task.loss, .label_smoothing = 0.2});
  }
}

TEST(TaskLoss, WithWeightedClassesIsThatOfPlainLoops) {
  for (const TaskCase& task : task_cases()) {
    if (task.loss != TaskLoss::kClass && task.loss != TaskLoss::kTokens) continue;
    for (const double smoothing : {0.0, 0.2}) {
      check_loss(task, {.loss = task.loss, .label_smoothing = smoothing, .class_weights_C = {0.5f, 1, 3}});
    }
  }
}

TEST(TaskLoss, HasItsFiniteDifferencesAsGradients) {
  for (const TaskCase& task : task_cases()) {
    Model model = make_tiny(form_of(task), at::kDouble);
    const TaskBatch batch = make_task(task, 0, kItems);
    std::vector<at::Tensor> tensors;
    for (const NamedParameter& parameter : trained_parameters(model)) tensors.push_back(parameter.tensor);
    const auto loss = [&] { return task_loss(model, test_compute(), batch, {.loss = task.loss}, kTraining).sum; };
    EXPECT_LE(worst_gradient_error(tensors, loss, 2), 2e-8) << task.name;
  }
}

// Weighted classes too: the mean of a step is one over all of its weights.
TEST(TaskLoss, OfMicroBatchesIsThatOfTheWhole) {
  for (const TaskCase& task : task_cases()) {
    Model model = make_tiny(form_of(task));
    TaskOptions options{.loss = task.loss};
    if (task.name == "class") options.class_weights_C = {0.5f, 1, 3};
    const TaskBatch whole = make_task(task, 0, kItems), first = make_task(task, 0, 1),
                    rest = make_task(task, 1, kItems - 1);
    const auto loss_of = [&](const TaskBatch& batch) {
      return [&] { return task_loss(model, test_compute(), batch, options, kTraining); };
    };
    const ReplayedStep single = replay_step(model, {loss_of(whole)}),
                       two = replay_step(model, {loss_of(first), loss_of(rest)});
    EXPECT_NEAR(single.loss, two.loss, 1e-6) << task.name;
    EXPECT_EQ(single.count, two.count);
    EXPECT_EQ(single.correct, two.correct);
    for (size_t n = 0; n < single.gradients.size(); ++n) {
      const NamedGradient& gradient = single.gradients[n];
      EXPECT_LE(worst_difference(gradient.gradient, two.gradients[n].gradient), 1e-6) << task.name << gradient.name;
    }
  }
}

TEST(TaskLogits, OfAnItemAloneAreThoseInAPackBitForBit) {
  for (const TaskCase& task : task_cases()) {
    const Model model = make_tiny(form_of(task, true));
    const std::vector<double> whole =
        values_of(logits_of(model, task, make_task(task, 0, kItems), kTraining).logits_NC);
    std::vector<double> alone;
    for (uint32_t number = 0; number < kItems; ++number) {
      for (const double value : values_of(logits_of(model, task, make_task(task, number, 1), kTraining).logits_NC)) {
        alone.push_back(value);
      }
    }
    EXPECT_EQ(whole, alone) << task.name;
  }
}

TEST(TaskLogits, OfMentionsAreThoseOfTheEngine) {
  const TaskCase task = task_cases().back();
  const TaskBatch batch = make_task(task, 0, kItems);
  const deberta::Model engine = load_tiny(tiny_config(), task.head, {.threads = 1}, task.labels);
  ForwardOptions options;
  for (size_t m = 0; m < batch.right_M.size(); ++m) {
    const auto begin = batch.mention_rows.begin();
    options.groups.push_back(
        {batch.mention_sequences_M[m], {begin + batch.mentions[m], begin + batch.mentions[m + 1]}});
  }
  Batch input;
  input.ids_T = batch.input.ids_T;
  input.starts = batch.input.starts;
  input.mask_T = batch.input.mask_T;
  input.longest = batch.input.longest;
  ForwardResult expected;
  engine.forward(input, options, expected);
  const std::vector<double> got = values_of(logits_of(make_tiny(form_of(task)), task, batch).logits_NC);
  ASSERT_EQ(expected.logits.size(), got.size());
  for (size_t m = 0; m < got.size(); ++m) EXPECT_NEAR(got[m], expected.logits[m], 1e-5) << m;
}

TEST(TaskLoss, OfABatchWithoutLabelsIsZero) {
  for (const TaskCase& task : task_cases()) {
    TaskBatch batch = make_task(task, 0, 2);
    if (task.loss == TaskLoss::kClass && !task.has_distributions) {
      batch.classes_B = {-1, -1};
    } else if (task.loss == TaskLoss::kTokens) {
      batch.input.rows_P = batch.input.labels_P = {};
    } else if (task.loss == TaskLoss::kChoice) {
      batch.right_Q = {-1, -1};
    } else if (task.loss == TaskLoss::kMention) {
      batch.mentions = {0};
      batch.mention_rows = batch.mention_sequences_M = {};
      batch.right_M = {};
    } else {
      continue;  // always has them
    }
    const Loss loss = task_loss(make_tiny(form_of(task)), test_compute(), batch, {.loss = task.loss}, {});
    EXPECT_EQ(loss.sum.item<double>(), 0) << task.name;
    EXPECT_EQ(loss.count, 0) << task.name;
  }
}

TEST(TaskLoss, CountsWhatIsRight) {
  const TaskCase task = task_cases()[0];
  const Model model = make_tiny(form_of(task));
  TaskBatch batch = make_task(task, 0, kItems);
  const std::vector<int64_t> best = [&] {
    const at::Tensor best_B = logits_of(model, task, batch).logits_NC.argmax(1);
    return std::vector<int64_t>(best_B.data_ptr<int64_t>(), best_B.data_ptr<int64_t>() + kItems);
  }();
  for (size_t b = 0; b < kItems; ++b) batch.classes_B[b] = static_cast<int32_t>(best[b]);
  EXPECT_EQ(task_loss(model, test_compute(), batch, {.loss = task.loss}, {}).correct, 4);
  batch.classes_B[2] = (batch.classes_B[2] + 1) % 3;
  EXPECT_EQ(task_loss(model, test_compute(), batch, {.loss = task.loss}, {}).correct, 3);
}

// A recipe sets cls_dropout: it acts before the classifier, and in training only.
TEST(TaskLoss, DropsBeforeTheClassifierAsTheConfigSays) {
  for (const TaskCase& task : task_cases()) {
    ModelForm form = form_of(task);
    form.config.hidden_dropout_prob = form.config.attention_probs_dropout_prob = 0;
    form.config.pooler_dropout = form.config.cls_dropout = 0;
    Model model = make_tiny(form);
    const auto loss = [&](double p, const DropoutStream& dropout) {
      model.form.config.cls_dropout = p;
      return task_loss(model, test_compute(), make_task(task, 0, kItems), {.loss = task.loss}, dropout)
          .sum.item<double>();
    };
    EXPECT_EQ(loss(0, {}), loss(0.5, {})) << task.name;
    EXPECT_EQ(loss(0, kTraining), loss(0, {})) << task.name;
    EXPECT_EQ(loss(0.5, kTraining) == loss(0, kTraining), task.loss == TaskLoss::kSpan) << task.name;
  }
}

}  // namespace
}  // namespace deberta::train::task_test
