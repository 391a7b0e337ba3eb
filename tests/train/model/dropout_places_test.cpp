// Where the original drops (model-training.md#dropout), by hand: every operation with its own numbers and its own
// rate, and no other.
// T packed tokens  B sequences  D hidden  R relative rows
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <vector>

#include "heads/kernel_names.h"
#include "train/model/model_case.h"
#include "train/ops/activation.h"
#include "train/ops/attention.h"
#include "train/ops/dropout.h"

namespace deberta::train::dropout_places_test {
namespace {

using namespace test;

ModelForm one_layer(double hidden, double attention, double pooler, double classifier) {
  ModelForm form = make_form(Head::kSequence);
  form.config.num_hidden_layers = 1;
  form.config.hidden_dropout_prob = hidden;
  form.config.attention_probs_dropout_prob = attention;
  form.config.pooler_dropout = pooler;
  form.config.cls_dropout = classifier;
  return form;
}

Pass training_pass(const Model& model, const Batch& batch) {
  ModelInput input = input_of(batch);
  input.first_sequence = 2;
  return make_pass(model, test_compute(), input, {true, 5, 3});
}

at::Tensor drop(const Pass& pass, RandomDomain domain, double p, const Rows& rows, const at::Tensor& x_ND) {
  const at::Tensor factors_ND = dropout_factors(pass.dropout(domain, p, 0), rows, x_ND.size(1), x_ND);
  EXPECT_GT(factors_ND.eq(0).sum().item<int64_t>(), 0);
  return x_ND * factors_ND;
}

at::Tensor norm(const Pass& pass, const Norm& weights, const at::Tensor& x_ND) {
  return layer_norm(pass.compute, x_ND, pass.norm(weights));
}

// Uses one draw of the relative table for Kr and Qr, in every sequence and head.
at::Tensor attend_by_hand(const Pass& pass, const Model& model, const at::Tensor& x_TD) {
  const Attention& a = model.encoder.layers[0].attention;
  const at::Tensor table_RD = norm(pass, model.encoder.relative.norm, model.encoder.relative.rel_embeddings_RD);
  Dropout of_table = pass.dropout(RandomDomain::kRelativeDropout, pass.form.config.hidden_dropout_prob, 0);
  of_table.sequence_offset = 0;
  const Rows rows{{0, static_cast<int32_t>(table_RD.size(0))}};
  const at::Tensor dropped_RD = table_RD * dropout_factors(of_table, rows, table_RD.size(1), table_RD);
  AttentionInputs in;
  in.q_ND = apply(pass, a.query_proj, x_TD);
  in.k_TD = apply(pass, a.key_proj, x_TD);
  in.v_TD = apply(pass, a.value_proj, x_TD);
  in.kr_RD = apply(pass, a.key_proj, dropped_RD);
  in.qr_RD = apply(pass, a.query_proj, dropped_RD);
  in.queries = in.keys = pass.tokens;
  in.lut = pass.lut;
  in.heads = 2;
  in.scale = 1 / std::sqrt(3.0 * 8);
  in.dropout = pass.dropout(RandomDomain::kAttentionDropout, pass.form.config.attention_probs_dropout_prob, 0);
  return attention(pass.compute, in);
}

TEST(DropoutPlaces, AreThoseOfTheOriginal) {
  const Model model = make_tiny(one_layer(0.25, 0.5, 0.3, 0.4), at::kDouble);
  const ModelConfig& c = model.form.config;
  const Pass pass = training_pass(model, make_batch({make_ids(1, 9), make_ids(2, 5)}));
  const Rows& tokens = *pass.tokens;
  const Layer& layer = model.encoder.layers[0];

  at::Tensor x_TD = norm(pass, model.embeddings.norm, sum_embeddings(pass, model.embeddings));
  x_TD = drop(pass, RandomDomain::kEmbeddingDropout, 0.25, tokens, x_TD);
  at::Tensor y_TD = apply(pass, layer.attention.dense, attend_by_hand(pass, model, x_TD));
  y_TD = drop(pass, RandomDomain::kAttentionOutputDropout, 0.25, tokens, y_TD);
  x_TD = norm(pass, layer.attention.norm, y_TD + x_TD);
  y_TD = activate(pass.compute, apply(pass, layer.feed_forward.intermediate, x_TD), to_kernel(c.hidden_act));
  y_TD = drop(pass, RandomDomain::kFeedForwardDropout, 0.25, tokens, apply(pass, layer.feed_forward.output, y_TD));
  x_TD = norm(pass, layer.feed_forward.norm, y_TD + x_TD);
  const at::Tensor got_TD = encode(pass, model).hidden_TD.back();
  EXPECT_LE(worst_difference(x_TD, got_TD), 1e-12);

  const std::vector<int32_t> first_B = {0, 9};
  const SharedRows first = choose_rows(tokens, first_B);
  at::Tensor z_BD = drop(pass, RandomDomain::kPoolerDropout, 0.3, *first, take_rows(x_TD, first_B));
  z_BD = activate(pass.compute, apply(pass, model.head.dense, z_BD), to_kernel(c.pooler_hidden_act));
  z_BD = drop(pass, RandomDomain::kClassifierDropout, 0.4, *first, z_BD);
  EXPECT_LE(worst_difference(apply(pass, model.head.classifier, z_BD),
                             sequence_logits(pass, model.head, take_rows(got_TD, first_B))),
            1e-12);
}

TEST(DropoutPlaces, HaveOneMoreWithinTheFeedForwardLayerWhereItIsAsked) {
  ModelForm form = one_layer(0.25, 0.5, 0, 0);
  form.config.feed_forward_dropout = 0.3;
  const Model model = make_tiny(form, at::kDouble);
  const Pass pass = training_pass(model, make_batch({make_ids(1, 9), make_ids(2, 5)}));
  const Rows& tokens = *pass.tokens;
  const FeedForward& f = model.encoder.layers[0].feed_forward;
  const at::Tensor x_TD = embed(pass, model.embeddings);
  at::Tensor y_TF = activate(pass.compute, apply(pass, f.intermediate, x_TD), to_kernel(form.config.hidden_act));
  y_TF = drop(pass, RandomDomain::kInnerDropout, 0.3, tokens, y_TF);
  const at::Tensor y_TD = drop(pass, RandomDomain::kFeedForwardDropout, 0.25, tokens, apply(pass, f.output, y_TF));
  EXPECT_LE(worst_difference(norm(pass, f.norm, y_TD + x_TD), apply_feed_forward(pass, f, x_TD, tokens, 0)), 1e-12);
}

TEST(DropoutPlaces, WithoutARateAreThoseOfAnEvaluation) {
  const Model model = make_tiny(one_layer(0, 0, 0, 0));
  const Batch batch = make_batch({make_ids(1, 9), make_ids(2, 5)});
  const auto logits = [&](const Pass& pass) {
    return sequence_logits(pass, model.head, take_rows(encode(pass, model).hidden_TD.back(), first_rows(*pass.tokens)));
  };
  EXPECT_TRUE(logits(training_pass(model, batch)).equal(logits(make_pass(model, test_compute(), input_of(batch), {}))));
}

}  // namespace
}  // namespace deberta::train::dropout_places_test
