// Tiny forms and inputs for the tests of this room: every variant that the engine knows.
#pragma once
#include <string>
#include <vector>

#include "engine/engine_case.h"
#include "support/torch_numbers.h"
#include "train/model/parameters.h"

namespace deberta::test {

using train::ModelForm;

struct FormCase {
  std::string name;
  ModelForm form;
};

inline ModelForm make_form(
    Head head = Head::kNone, void (*change)(ModelConfig&) = [](ModelConfig&) {}) {
  ModelForm form;
  form.config = tiny_config();
  change(form.config);
  form.head = head;
  form.labels = 3;
  return form;
}

template <ClassifierPooling kPooling>
void with_pooling(ModelConfig& config) {
  config.classifier_pooling = kPooling;
}

// The tiny version 3 with one thing changed at a time, then every head: what the engine computes too.
inline std::vector<FormCase> engine_form_cases() {
  constexpr Head kNone = Head::kNone;
  std::vector<FormCase> cases = {
      {"v3", make_form()},
      {"own_projections", make_form(kNone, [](ModelConfig& c) { c.share_att_key = false; })},
      {"c2p_alone", make_form(kNone, [](ModelConfig& c) { c.has_p2c = false; })},
      {"p2c_alone", make_form(kNone, [](ModelConfig& c) { c.has_c2p = false; })},
      {"own_c2p_alone", make_form(kNone, [](ModelConfig& c) { c.share_att_key = c.has_p2c = false; })},
      {"own_p2c_alone", make_form(kNone, [](ModelConfig& c) { c.share_att_key = c.has_c2p = false; })},
      {"no_terms", make_form(kNone, [](ModelConfig& c) { c.has_c2p = c.has_p2c = false; })},
      {"no_relative_norm", make_form(kNone, [](ModelConfig& c) { c.has_rel_layer_norm = false; })},
      {"no_buckets", make_form(kNone, [](ModelConfig& c) { c.position_buckets = -1; })},
      {"not_relative", make_form(kNone, [](ModelConfig& c) { c.relative_attention = c.has_rel_layer_norm = false; })},
      {"positions_at_the_input", make_form(kNone, [](ModelConfig& c) { c.position_biased_input = true; })},
      {"types", make_form(kNone, [](ModelConfig& c) { c.type_vocab_size = 2; })},
      {"embedding_size", make_form(kNone, [](ModelConfig& c) { c.embedding_size = 12; })},
      {"large_epsilon", make_form(kNone, [](ModelConfig& c) { c.layer_norm_eps = 0.1; })},
      {"relu", make_form(kNone, [](ModelConfig& c) { c.hidden_act = Activation::kRelu; })},
      {"convolution", make_form(kNone,
                                [](ModelConfig& c) {
                                  c.conv_kernel_size = 3;
                                  c.conv_groups = 2;
                                  c.conv_act = Activation::kGelu;
                                })},
      {"masked_lm", make_form(Head::kMaskedLm)},
      {"masked_lm_relu", make_form(Head::kMaskedLm, [](ModelConfig& c) { c.hidden_act = Activation::kRelu; })},
      {"masked_lm_own_projections", make_form(Head::kMaskedLm, [](ModelConfig& c) { c.share_att_key = false; })},
      {"masked_lm_convolution", make_form(Head::kMaskedLm,
                                          [](ModelConfig& c) {
                                            c.num_hidden_layers = 3;
                                            c.conv_kernel_size = 5;
                                          })},
      {"masked_lm_positions_at_the_input", make_form(Head::kMaskedLm,
                                                     [](ModelConfig& c) {
                                                       c.position_biased_input = true;
                                                       c.embedding_size = 12;
                                                     })},
      {"sequence", make_form(Head::kSequence)},
      {"sequence_tanh", make_form(Head::kSequence, [](ModelConfig& c) { c.pooler_hidden_act = Activation::kTanh; })},
      {"sequence_mean", make_form(Head::kSequence, with_pooling<ClassifierPooling::kMean>)},
      {"sequence_max", make_form(Head::kSequence, with_pooling<ClassifierPooling::kMax>)},
      {"sequence_attention", make_form(Head::kSequence, with_pooling<ClassifierPooling::kAttention>)},
      {"token", make_form(Head::kToken)},
      {"token_original", make_form(Head::kTokenOriginal)},
      {"token_original_relu",
       make_form(Head::kTokenOriginal, [](ModelConfig& c) { c.hidden_act = Activation::kRelu; })},
      {"span", make_form(Head::kSpan)},
      {"replaced_token", make_form(Head::kReplacedToken)},
      {"replaced_token_relu",
       make_form(Head::kReplacedToken, [](ModelConfig& c) { c.hidden_act = Activation::kRelu; })},
  };
  cases.push_back({"causal", make_form(kNone, [](ModelConfig& c) { c.is_causal = true; })});
  cases.push_back({"causal_lm", make_form(Head::kMaskedLm, [](ModelConfig& c) { c.is_causal = true; })});
  ModelForm other_passes = make_form(Head::kMaskedLm);
  other_passes.config.mask_decoder_passes = 0;
  cases.push_back({"masked_lm_without_decoder", other_passes});
  for (const int64_t passes : {1, 3}) {
    other_passes.config.mask_decoder_passes = passes;
    cases.push_back({"masked_lm_of_" + std::to_string(passes) + "_passes", other_passes});
  }
  cases.push_back({"scale_of_the_head_size", make_form(kNone, [](ModelConfig& c) { c.scales_by_terms = false; })});
  cases.push_back({"shared_layers", make_form(Head::kMaskedLm, [](ModelConfig& c) {
                     c.shares_layers = true;
                     c.num_hidden_layers = 3;
                   })});
  cases.push_back({"fixed_distances", make_form(kNone, [](ModelConfig& c) {
                     c.has_fixed_distances = true;
                     c.has_p2c = c.share_att_key = c.has_rel_layer_norm = false;
                     c.position_buckets = -1;
                   })});
  return cases;
}

// Those, and the forms of ablations that only training has.
inline std::vector<FormCase> form_cases() {
  std::vector<FormCase> cases = engine_form_cases();
  for (const Head head : {Head::kNone, Head::kMaskedLm, Head::kSequence}) {
    const std::string end = head == Head::kNone ? "" : "_" + std::string(to_string(head));
    cases.push_back({"p2p" + end, make_form(head, [](ModelConfig& c) { c.has_p2p = true; })});
    cases.push_back({"norm_first" + end, make_form(head, [](ModelConfig& c) { c.norm_first = true; })});
  }
  cases.push_back({"p2p_own_projections", make_form(Head::kNone, [](ModelConfig& c) {
                     c.has_p2p = true;
                     c.share_att_key = false;
                   })});
  cases.push_back({"convolution_at_the_input", make_form(Head::kMaskedLm, [](ModelConfig& c) {
                     c.conv_kernel_size = 3;
                     c.conv_groups = c.hidden_size;
                     c.convolves_input = true;
                   })});
  cases.push_back(
      {"feed_forward_dropout", make_form(Head::kNone, [](ModelConfig& c) { c.feed_forward_dropout = 0.25; })});
  cases.push_back({"own_decoder", make_form(Head::kMaskedLm, [](ModelConfig& c) { c.has_own_decoder = true; })});
  return cases;
}

// Weights large enough that each one shows: those of write_tiny_model().
inline void load_tiny_weights(train::Model& model) {
  const TemporaryFolder folder;
  ModelConfig config = model.form.config;
  config.layout = Layout::kV2;
  write_tiny_model(folder.path(), config, model.form.head, model.form.labels);
  load_parameters(model, Checkpoint::open(folder.path()));
}

inline train::Model make_tiny(const ModelForm& form, at::ScalarType type = at::kFloat) {
  train::Model model = make_model(form, type);
  load_tiny_weights(model);
  return model;
}

inline train::ModelInput input_of(const Batch& batch) {
  return {.ids_T = batch.ids_T,
          .starts = batch.starts,
          .type_ids_T = batch.type_ids_T,
          .position_ids_T = batch.position_ids_T,
          .mask_T = batch.mask_T};
}

// Three sequences with a hole, and types where the model has them.
inline Batch make_holed_batch(const ModelConfig& config) {
  Batch batch = make_batch({make_ids(1, 9), make_ids(2, 1), make_ids(3, 14)});
  batch.mask_T.assign(24, 1);
  batch.mask_T[3] = batch.mask_T[20] = 0;
  if (config.type_vocab_size == 0) return batch;
  for (size_t t = 0; t < 24; ++t) batch.type_ids_T.push_back(t % 5 < 2 ? 0 : 1);
  return batch;
}

inline const train::Compute& test_compute() {
  static const train::Compute compute{.kernels = select_kernels("auto")};
  return compute;
}

}  // namespace deberta::test
