// Language modelling: what is trained, what a causal model may see, how batches add up, what is refused.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/tiny_model.h"
#include "support/torch_numbers.h"
#include "train/objectives/language_model.h"
#include "train/objectives/replay.h"

namespace deberta::train::language_model_test {
namespace {

using namespace test;

const Compute kCompute{.kernels = select_kernels("auto")};

ModelForm masked_form() {
  ModelForm form;
  form.config = tiny_config();
  form.head = Head::kMaskedLm;
  return form;
}

ModelForm causal_form() {
  ModelForm form = masked_form();
  form.config.is_causal = true;
  return form;
}

Model make_random(const ModelForm& form) {
  Model model = make_model(form, at::kDouble);
  model.form.config.initializer_range = 0.3;
  initialise(model, 1);
  return model;
}

TrainBatch make_batch() {
  TrainBatch batch;
  batch.ids_T = {3, 7, 4, 9, 11, 2, 30, 31, 49, 8};
  batch.starts = {0, 4, 4, 10};
  batch.longest = 6;
  batch.rows_P = {1, 3, 5, 9};
  batch.labels_P = {8, 9, 0, 40};
  return batch;
}

std::set<std::string> trained_names(const ModelForm& form) {
  Model model = make_model(form);
  std::set<std::string> names;
  for (const NamedParameter& parameter : trained_parameters(model)) names.insert(parameter.name);
  return names;
}

TEST(LanguageModel, TrainsNoPoolerAndNoAbsoluteTableThatNothingReads) {
  const std::string table = "embeddings.position_embeddings.weight";
  EXPECT_TRUE(trained_names(masked_form()).contains(table));
  EXPECT_FALSE(trained_names(causal_form()).contains(table));
  ModelForm form = masked_form();
  form.config.mask_decoder_passes = 0;
  EXPECT_FALSE(trained_names(form).contains(table));
  form.config.position_biased_input = true;
  EXPECT_TRUE(trained_names(form).contains(table));
  for (const std::string& name : trained_names(masked_form())) EXPECT_FALSE(name.starts_with("pooler")) << name;
}

TEST(LanguageModel, EveryTrainedParameterGetsAGradient) {
  for (const ModelForm& form : {masked_form(), causal_form()}) {
    Model model = make_random(form);
    language_model_loss(model, kCompute, make_batch(), {}).sum.backward();
    for (const NamedParameter& parameter : trained_parameters(model)) {
      ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
      // Neither softmax sees a key bias: without p2c it would have no gradient at all.
      EXPECT_GT(test::gradient_of(parameter.tensor).abs().max().item<double>(), 1e-12) << parameter.name;
    }
  }
}

TEST(LanguageModel, OfTheLastLayerOnlyTheDecoderRuns) {
  Model model = make_random(masked_form());
  const double before = language_model_loss(model, kCompute, make_batch(), {}).sum.item<double>();
  model.form.config.mask_decoder_passes = 1;
  const double one_pass = language_model_loss(model, kCompute, make_batch(), {}).sum.item<double>();
  EXPECT_GT(std::abs(before - one_pass), 1e-3);
}

TEST(LanguageModel, IsASumOverLabels) {
  Model model = make_random(masked_form());
  TrainBatch batch = make_batch();
  const Loss all = language_model_loss(model, kCompute, batch, {});
  EXPECT_EQ(all.count, 4);
  double sum = 0;
  int64_t correct = 0;
  for (size_t n = 0; n < 4; ++n) {
    TrainBatch single = make_batch();
    single.rows_P = {batch.rows_P[n]};
    single.labels_P = {batch.labels_P[n]};
    const Loss loss = language_model_loss(model, kCompute, single, {});
    sum += loss.sum.item<double>();
    correct += loss.correct;
  }
  EXPECT_NEAR(all.sum.item<double>(), sum, 1e-10);
  EXPECT_EQ(all.correct, correct);
}

// Micro-batches of a step: the same sums, gradients and dropped elements as in one piece.
TEST(LanguageModel, ASplitStepIsTheSameStep) {
  const TrainBatch whole = make_batch();
  TrainBatch first, second;
  first.ids_T = {3, 7, 4, 9};
  first.starts = {0, 4, 4};
  first.rows_P = {1, 3};
  first.labels_P = {8, 9};
  second.ids_T = {11, 2, 30, 31, 49, 8};
  second.starts = {0, 6};
  second.first_sequence = 2;
  second.rows_P = {1, 5};
  second.labels_P = {0, 40};
  const DropoutStream dropout{.is_training = true, .seed = 4, .step = 9};
  for (const ModelForm& form : {masked_form(), causal_form()}) {
    Model model = make_random(form);
    const auto loss_of = [&](const TrainBatch& batch) {
      return [&model, &batch, dropout] { return language_model_loss(model, kCompute, batch, dropout); };
    };
    const ReplayedStep single = replay_step(model, {loss_of(whole)});
    const ReplayedStep two = replay_step(model, {loss_of(first), loss_of(second)});
    EXPECT_NEAR(single.loss, two.loss, 1e-12);
    EXPECT_EQ(single.count, two.count);
    EXPECT_EQ(single.correct, two.correct);
    for (size_t n = 0; n < single.gradients.size(); ++n) {
      EXPECT_LE(worst_difference(single.gradients[n].gradient, two.gradients[n].gradient), 1e-12)
          << single.gradients[n].name;
    }
  }
}

TEST(LanguageModel, WithoutLabelsIsZero) {
  Model model = make_random(masked_form());
  TrainBatch batch = make_batch();
  batch.rows_P.clear();
  batch.labels_P.clear();
  const ReplayedStep step = replay_step(model, {[&] { return language_model_loss(model, kCompute, batch, {}); }});
  EXPECT_EQ(step.loss, 0);
  EXPECT_EQ(step.count, 0);
  for (const NamedGradient& each : step.gradients) EXPECT_EQ(each.gradient.abs().sum().item<double>(), 0) << each.name;
}

TEST(CausalModel, PredictsFromWhatStandsBefore) {
  Model model = make_random(causal_form());
  TrainBatch batch = make_batch();
  predict_next_tokens(batch);
  EXPECT_EQ(batch.rows_P, (std::vector<int32_t>{0, 1, 2, 4, 5, 6, 7, 8}));
  EXPECT_EQ(batch.labels_P, (std::vector<int32_t>{7, 4, 9, 2, 30, 31, 49, 8}));
  TrainBatch changed = batch;
  changed.ids_T[3] = 20;  // the last of the first sequence, which only stands as a label
  changed.ids_T[9] = 21;
  EXPECT_EQ(language_model_loss(model, kCompute, batch, {}).sum.item<double>(),
            language_model_loss(model, kCompute, changed, {}).sum.item<double>());
  changed.ids_T[8] = 22;
  EXPECT_NE(language_model_loss(model, kCompute, batch, {}).sum.item<double>(),
            language_model_loss(model, kCompute, changed, {}).sum.item<double>());
}

TEST(LanguageModel, RefusesRowsAndLabelsThatDoNotFit) {
  Model model = make_random(masked_form());
  const auto loss_of = [&](const TrainBatch& batch) { language_model_loss(model, kCompute, batch, {}); };
  TrainBatch batch = make_batch();
  batch.rows_P[3] = 10;
  EXPECT_ERROR(loss_of(batch), kInput, "batch, label 3: row: expected ascending numbers below 10, got 10");
  batch = make_batch();
  batch.rows_P[1] = 1;
  EXPECT_ERROR(loss_of(batch), kInput, "batch, label 1: row: expected ascending numbers below 10, got 1");
  batch = make_batch();
  batch.labels_P[2] = 50;
  EXPECT_ERROR(loss_of(batch), kInput, "batch, label 2: id: expected 0 to 49, got 50");
  batch.labels_P.pop_back();
  EXPECT_ERROR(loss_of(batch), kInput, "labels: expected 4, one for each row to predict, got 3");
}

}  // namespace
}  // namespace deberta::train::language_model_test
