// The loss of entities: where they are among the scores, sums by plain loops, the focal form, micro-batches, and what
// is refused.
#include "train/objectives/extraction.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/expect_error.h"
#include "train/model/extraction_case.h"
#include "train/objectives/replay.h"
#include "train/objectives/task.h"
#include "train/objectives/task_check.h"

namespace deberta::train::extraction_test {
namespace {

using namespace test;

constexpr DropoutStream kTraining{.is_training = true, .seed = 5, .step = 3};
const std::vector<EntityTarget> kEntities = {{0, 0, 1, 0}, {0, 3, 3, 1}, {2, 1, 3, 2}, {2, 1, 1, 0}};

// Texts `first` to `first + count - 1` with their entities.
TaskBatch make_task(size_t first, size_t count) {
  TaskBatch batch;
  const std::vector<LabelledText> texts = labelled_texts();
  batch.input.starts = {0};
  batch.input.first_sequence = static_cast<uint32_t>(first);
  for (size_t n = first; n < first + count; ++n) {
    batch.words_B.push_back(at_row(texts[n].words, batch.input.starts.back()));
    batch.input.ids_T.insert(batch.input.ids_T.end(), texts[n].ids.begin(), texts[n].ids.end());
    batch.input.starts.push_back(static_cast<int32_t>(batch.input.ids_T.size()));
    for (EntityTarget entity : kEntities) {
      if (entity.sequence != static_cast<int32_t>(n)) continue;
      entity.sequence -= static_cast<int32_t>(first);
      batch.entities.push_back(entity);
    }
  }
  return batch;
}

bool has(size_t sequence, size_t first, size_t last, size_t label) {
  for (const EntityTarget& entity : kEntities) {
    if (static_cast<size_t>(entity.sequence) == sequence && static_cast<size_t>(entity.first) == first &&
        static_cast<size_t>(entity.last) == last && static_cast<size_t>(entity.label) == label)
      return true;
  }
  return false;
}

// In the order of the logits, by plain loops.
std::vector<float> plain_targets(const ExtractionConfig& config, const TaskBatch& batch) {
  std::vector<float> targets;
  for (size_t b = 0; b < batch.words_B.size(); ++b) {
    const size_t words = batch.words_B[b].words(), labels = batch.words_B[b].labels.size();
    for (size_t first = 0; first < words; ++first) {
      const size_t width = config.has_spans() ? static_cast<size_t>(config.max_width) : 1;
      for (size_t last = first; last < std::min(words, first + width); ++last) {
        for (size_t label = 0; label < labels; ++label) {
          if (config.has_spans()) {
            targets.push_back(has(b, first, last, label));
            continue;
          }
          bool begins = false, ends = false, is_inside = false;
          for (size_t from = 0; from <= first; ++from) {
            for (size_t to = first; to < words; ++to) {
              const bool is_entity = has(b, from, to, label);
              begins = begins || (is_entity && from == first);
              ends = ends || (is_entity && to == first);
              is_inside = is_inside || is_entity;
            }
          }
          for (const bool is_right : {begins, ends, is_inside}) targets.push_back(is_right);
        }
      }
    }
  }
  return targets;
}

TEST(Extraction, TargetsStandWhereTheHeadsScoresDo) {
  const TaskBatch batch = make_task(0, 3);
  for (const auto& [name, config] : extraction_cases()) {
    const std::vector<float> targets = entity_targets(config, batch);
    EXPECT_EQ(targets, plain_targets(config, batch)) << name;
    Model model = make_tiny(form_of(config));
    const Loss loss = task_loss(model, test_compute(), batch, {.loss = TaskLoss::kExtraction}, {});
    EXPECT_EQ(loss.count, static_cast<int64_t>(targets.size())) << name << ": one for each score";
  }
}

double plain_loss(const std::vector<double>& scores, const std::vector<float>& targets, const FocalOptions& focal) {
  double sum = 0;
  for (size_t n = 0; n < scores.size(); ++n) {
    const double p = 1 / (1 + std::exp(-scores[n])), of_target = targets[n] > 0 ? p : 1 - p;
    const double alpha = focal.alpha ? (targets[n] > 0 ? *focal.alpha : 1 - *focal.alpha) : 1;
    sum -= alpha * std::pow(1 - of_target, focal.gamma) * std::log(of_target);
  }
  return sum;
}

TEST(Extraction, LossIsThatOfPlainLoops) {
  const std::vector<double> scores = {-2, 0.5, 3, -0.25, 1.5, -4};
  const std::vector<float> targets = {0, 1, 0, 1, 0, 0};
  for (const FocalOptions& focal : {FocalOptions{}, FocalOptions{.gamma = 2}, FocalOptions{.alpha = 0.25},
                                    FocalOptions{.alpha = 0.75, .gamma = 1.5}}) {
    at::Tensor given = at::tensor(scores, at::kDouble).view({6, 1}).requires_grad_(true);
    const Loss loss = extraction_loss(given, targets, 2, focal);
    EXPECT_NEAR(loss.sum.item<double>(), plain_loss(scores, targets, focal), 1e-12);
    EXPECT_EQ(loss.count, 6);
    EXPECT_EQ(loss.correct, 3);
    EXPECT_EQ(loss.divisor(), 2) << "the mean is that of texts";
    const auto function = [&] { return extraction_loss(given, targets, 2, focal).sum; };
    EXPECT_LE(worst_gradient_error({given}, function, 6), 1e-8);
  }
}

// Far scores give neither an infinity nor a gradient that is no number.
TEST(Extraction, FarScoresStayFinite) {
  at::Tensor scores = at::tensor(std::vector<float>{-200, 200, -200, 200}, at::kFloat).requires_grad_(true);
  for (const double gamma : {0.0, 0.5, 2.0}) {
    const Loss loss = extraction_loss(scores, std::vector<float>{0, 1, 1, 0}, 1, {.gamma = gamma});
    EXPECT_NEAR(loss.sum.item<double>(), 400, 1e-9);
    loss.sum.backward();
    EXPECT_TRUE(std::isfinite(scores.grad().sum().item<double>())) << gamma;
    scores.mutable_grad() = at::Tensor();
  }
}

TEST(Extraction, LossOfMicroBatchesIsThatOfTheWhole) {
  for (const auto& [name, config] : extraction_cases()) {
    ModelForm form = form_of(config);
    form.config.cls_dropout = 0.25;
    Model model = make_tiny(form);
    const TaskBatch whole = make_task(0, 3), first = make_task(0, 1), rest = make_task(1, 2);
    const auto loss_of = [&](const TaskBatch& batch) {
      return [&] { return task_loss(model, test_compute(), batch, {.loss = TaskLoss::kExtraction}, kTraining); };
    };
    const ReplayedStep single = replay_step(model, {loss_of(whole)}),
                       two = replay_step(model, {loss_of(first), loss_of(rest)});
    EXPECT_NEAR(single.loss, two.loss, 1e-5) << name;
    EXPECT_EQ(single.count, two.count) << name;
    for (size_t n = 0; n < single.gradients.size(); ++n) {
      const NamedGradient& gradient = single.gradients[n];
      const double largest = gradient.gradient.abs().max().item<double>();  // sums over texts, in another order
      EXPECT_LE(worst_difference(gradient.gradient, two.gradients[n].gradient), 1e-6 * std::max(1.0, largest))
          << name << gradient.name;
    }
  }
}

TEST(Extraction, WhatDoesNotFitIsRefused) {
  const ModelForm form = form_of(extraction_cases().front().config);
  const auto check = [&](const auto& change) {
    TaskBatch batch = make_task(0, 3);
    change(batch);
    check_batch(form, batch, TaskLoss::kExtraction);
  };
  EXPECT_NO_THROW(check([](TaskBatch&) {}));
  EXPECT_ERROR(check([](TaskBatch& b) { b.words_B.pop_back(); }), kInput,
               "batch: labelled words: expected 3, one for each sequence, got 2");
  EXPECT_ERROR(check([](TaskBatch& b) { b.words_B[1].labels[0] = 3; }), kInput,
               "batch, sequence 1: expected a token of");
  EXPECT_ERROR(check([](TaskBatch& b) { b.words_B[0].word_starts[1] = 3; }), kInput,
               "batch, sequence 0: starts of words: expected ascending numbers from 0 to 4");
  EXPECT_ERROR(check([](TaskBatch& b) { b.words_B[0].word_starts.back() = 3; }), kInput, "starts of words");
  EXPECT_ERROR(check([](TaskBatch& b) { b.entities[0].last = 4; }), kInput,
               "batch, entity 0: words: expected a range of 4, got 0 to 4");
  EXPECT_ERROR(check([](TaskBatch& b) { b.entities[2].label = 3; }), kInput,
               "batch, entity 2: label: expected below 3, got 3");
  EXPECT_ERROR(check([](TaskBatch& b) { b.entities[1].sequence = 3; }), kInput,
               "batch, entity 1: sequence: expected below 3, got 3");
  const auto check_options = [&](const TaskOptions& options) { check_task(form, options); };
  EXPECT_ERROR(check_options({.loss = TaskLoss::kTokens}), kTask, "expected a head of tokens");
  EXPECT_ERROR(check_task(make_form(Head::kToken), {.loss = TaskLoss::kExtraction}), kTask,
               "expected a head of entities (GLiNER), got the head token");
  EXPECT_ERROR(check_options({.loss = TaskLoss::kExtraction, .focal = {.alpha = 1.5}}), kUsage,
               "alpha: expected 0 to 1");
  EXPECT_ERROR(check_options({.loss = TaskLoss::kExtraction, .focal = {.gamma = -1}}), kUsage,
               "gamma: expected 0 or more");
  EXPECT_ERROR(check_task(make_form(Head::kToken), {.loss = TaskLoss::kTokens, .focal = {.gamma = 1}}), kUsage,
               "focal loss: expected a head of entities");
}

}  // namespace
}  // namespace deberta::train::extraction_test
