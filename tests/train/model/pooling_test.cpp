// Pooling of all tokens by the kernels of fp32 beside ATen's operators in double: values and gradients. And where
// dropout stands: on what is pooled, where the first token was.
#include "train/model/pooling.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "train/model/model_case.h"
#include "train/ops/dropout.h"

namespace deberta::train::pooling_test {
namespace {

using namespace test;

constexpr std::array kOfAllTokens = {ClassifierPooling::kMean, ClassifierPooling::kMax, ClassifierPooling::kAttention};

ModelForm pooling_form(ClassifierPooling pooling) {
  ModelForm form = make_form(Head::kSequence);
  form.config.classifier_pooling = pooling;
  return form;
}

struct Pooled {
  at::Tensor pooled_BD, dh_TD, dw_D;
};

// Pools the same numbers in any type.
Pooled pool_of(ClassifierPooling pooling, const Batch& batch, const Compute& compute, at::ScalarType type,
               const at::Tensor& hidden_TD) {
  Model model = make_tiny(pooling_form(pooling), type);
  const Pass pass = make_pass(model, compute, input_of(batch), {});
  const at::Tensor h_TD = hidden_TD.to(type).clone().requires_grad_(true);
  const at::Tensor pooled_BD = pool(pass, model.head, h_TD);
  (pooled_BD * normal_tensor(7, pooled_BD.sizes()).to(type)).sum().backward();
  const at::Tensor& w_D = model.head.pooling_query_D;
  return {pooled_BD.detach(), h_TD.grad(), w_D.defined() ? w_D.grad() : at::Tensor()};
}

Batch pooling_batch() {
  Batch batch = make_holed_batch(tiny_config());
  batch.mask_T[10] = 0;  // the first token of the last sequence
  return batch;
}

TEST(TrainPooling, OfKernelsAndOfOperatorsAreTheSame) {
  const Batch batch = pooling_batch();
  const at::Tensor hidden_TD = normal_tensor(3, {24, 16});
  for (const ClassifierPooling pooling : kOfAllTokens) {
    const Pooled expected = pool_of(pooling, batch, test_compute(), at::kDouble, hidden_TD);
    const Pooled got = pool_of(pooling, batch, test_compute(), at::kFloat, hidden_TD);
    EXPECT_LE(worst_difference(expected.pooled_BD, got.pooled_BD), 1e-6) << to_string(pooling);
    EXPECT_LE(worst_difference(expected.dh_TD, got.dh_TD), 1e-6) << to_string(pooling);
    EXPECT_EQ(got.dw_D.defined(), pooling == ClassifierPooling::kAttention);
    if (got.dw_D.defined()) {
      EXPECT_LE(worst_difference(expected.dw_D, got.dw_D), 1e-6);
    }
    for (const int64_t masked : {3, 10, 20}) EXPECT_EQ(got.dh_TD[masked].abs().max().item<float>(), 0) << masked;
  }
}

TEST(TrainPooling, HasTheSameBitsWithAnyNumberOfThreads) {
  ThreadPool pool(3);
  Compute many = test_compute();
  many.parallel = pool.parallel();
  const at::Tensor hidden_TD = normal_tensor(3, {24, 16});
  for (const ClassifierPooling pooling : kOfAllTokens) {
    const Pooled single = pool_of(pooling, pooling_batch(), test_compute(), at::kFloat, hidden_TD);
    const Pooled three = pool_of(pooling, pooling_batch(), many, at::kFloat, hidden_TD);
    EXPECT_TRUE(single.pooled_BD.equal(three.pooled_BD) && single.dh_TD.equal(three.dh_TD)) << to_string(pooling);
    EXPECT_TRUE(!single.dw_D.defined() || single.dw_D.equal(three.dw_D));
  }
}

TEST(TrainPooling, OfEqualValuesTheFirstGetsTheGradientOfTheLargest) {
  const at::Tensor hidden_TD = normal_tensor(3, {24, 16});
  hidden_TD[4] = 9;
  hidden_TD[6] = 9;  // both lie in the first sequence
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Pooled pooled = pool_of(ClassifierPooling::kMax, pooling_batch(), test_compute(), type, hidden_TD);
    EXPECT_GT(pooled.dh_TD[4].abs().min().item<double>(), 0);
    EXPECT_EQ(pooled.dh_TD[6].abs().max().item<double>(), 0);
  }
}

TEST(TrainPooling, WithoutTokensThatCountGivesZerosAndNoGradient) {
  Batch batch = pooling_batch();
  batch.mask_T[9] = 0;  // the only token of the second sequence
  for (const ClassifierPooling pooling : kOfAllTokens) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const Pooled pooled = pool_of(pooling, batch, test_compute(), type, normal_tensor(3, {24, 16}));
      EXPECT_EQ(pooled.pooled_BD[1].abs().max().item<double>(), 0) << to_string(pooling);
      EXPECT_EQ(pooled.dh_TD[9].abs().max().item<double>(), 0) << to_string(pooling);
    }
  }
}

TEST(TrainPooling, BeginsAsTheMeanWhereItIsByAttention) {
  Model attention = make_model(pooling_form(ClassifierPooling::kAttention));
  initialise(attention, 1);
  const Model mean = make_model(pooling_form(ClassifierPooling::kMean));
  const Batch batch = pooling_batch();
  const at::Tensor hidden_TD = normal_tensor(3, {24, 16}, at::kFloat);
  const auto pooled_by = [&](const Model& model) {
    return pool(make_pass(model, test_compute(), input_of(batch), {}), model.head, hidden_TD).detach();
  };
  EXPECT_LE(worst_difference(pooled_by(attention), pooled_by(mean)), 1e-6);
}

TEST(TrainPooling, IsDroppedInThePlaceOfTheFirstToken) {
  for (const ClassifierPooling pooling : kOfAllTokens) {
    ModelForm form = pooling_form(pooling);
    form.config.hidden_dropout_prob = form.config.attention_probs_dropout_prob = form.config.cls_dropout = 0;
    form.config.pooler_dropout = 0.4;
    form.config.pooler_hidden_act = Activation::kLinear;
    const Model model = make_tiny(form, at::kDouble);
    const Pass pass = make_pass(model, test_compute(), input_of(pooling_batch()), {true, 5, 3});
    const at::Tensor sum_TD = sum_embeddings(pass, model.embeddings);
    const at::Tensor pooled_BD = pooled_states(pass, model, sum_TD);
    EXPECT_TRUE(pooled_BD.equal(pool(pass, model.head, encode(pass, model).hidden_TD.back())));
    const SharedRows first = choose_rows(*pass.tokens, first_rows(*pass.tokens));
    const at::Tensor factors_BD =
        dropout_factors(pass.dropout(RandomDomain::kPoolerDropout, 0.4, 0), *first, pooled_BD.size(1), pooled_BD);
    EXPECT_GT(factors_BD.eq(0).sum().item<int64_t>(), 0);
    const at::Tensor expected_BC =
        apply(pass, model.head.classifier, apply(pass, model.head.dense, pooled_BD * factors_BD));
    EXPECT_LE(worst_difference(expected_BC, sequence_logits(pass, model.head, pooled_BD)), 1e-12) << to_string(pooling);
  }
}

}  // namespace
}  // namespace deberta::train::pooling_test
