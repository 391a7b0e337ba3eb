#include "train/model/attention.h"

#include <cmath>

#include "train/model/relative_position.h"
#include "train/ops/attention.h"
#include "train/ops/linear.h"
#include "train/ops/self_attention.h"

namespace deberta::train {
namespace {

at::Tensor apply(const Pass& pass, const Linear& linear, const at::Tensor& x) {
  return train::linear(pass.compute, x, linear.weight_OI, linear.bias_O);
}

// Kr and Qr of one layer from one draw of P~.
void project_relative(const Pass& pass, const Attention& a, const at::Tensor& relative_RD, size_t layer,
                      AttentionInputs& inputs) {
  if (!relative_RD.defined()) return;
  const bool is_shared = pass.form.config.share_att_key;
  const at::Tensor dropped_RD = drop_relative(pass, relative_RD, layer);
  if (pass.form.has_c2p()) inputs.kr_RD = apply(pass, is_shared ? a.key_proj : a.pos_key_proj, dropped_RD);
  if (pass.form.has_p2c()) inputs.qr_RD = apply(pass, is_shared ? a.query_proj : a.pos_query_proj, dropped_RD);
}

}  // namespace

void visit(Attention& a, const ModelForm& form, const std::string& layer_name, const Visit& each) {
  const ModelConfig& c = form.config;
  const int64_t size = c.hidden_size;
  const bool has_key_bias = c.layout == Layout::kV2;  // version 1 has none: it stays 0
  const std::string self = layer_name + ".attention.self.", output = layer_name + ".attention.output.";
  visit(a.query_proj, {self + "query_proj", size, size}, each);
  visit(a.key_proj, {self + "key_proj", size, size, has_key_bias}, each);
  visit(a.value_proj, {self + "value_proj", size, size}, each);
  if (form.has_c2p() && !c.share_att_key) {
    visit(a.pos_key_proj, {self + "pos_key_proj", size, size, has_key_bias}, each);
  }
  if (form.has_p2c() && !c.share_att_key) {
    visit(a.pos_query_proj, {self + "pos_query_proj", size, size}, each);
  }
  visit(a.dense, {output + "dense", size, size}, each);
  visit(a.norm, output + "LayerNorm", size, each);
}

KeysValues project_keys_values(const Pass& pass, const Attention& a, const at::Tensor& hidden_TD) {
  return {apply(pass, a.key_proj, hidden_TD), apply(pass, a.value_proj, hidden_TD)};
}

namespace {

// All but q, k and v.
AttentionInputs inputs_of(const Pass& pass, const Attention& a, const SharedRows& queries,
                          const at::Tensor& relative_RD, size_t layer) {
  const ModelConfig& c = pass.form.config;
  AttentionInputs inputs;
  project_relative(pass, a, relative_RD, layer, inputs);
  inputs.queries = queries;
  inputs.keys = pass.tokens;
  inputs.lut = pass.lut;
  inputs.heads = c.num_attention_heads;
  inputs.scale = 1 / std::sqrt(static_cast<double>(c.attention_head_size * c.attention_terms()));
  inputs.is_causal = c.is_causal;
  inputs.dropout = pass.dropout(RandomDomain::kAttentionDropout, c.attention_probs_dropout_prob, layer);
  return inputs;
}

at::Tensor add_norm_to(const Pass& pass, const Attention& a, const at::Tensor& dense_ND, const QueryStates& queries,
                       size_t layer) {
  const double p = pass.form.config.hidden_dropout_prob;
  const Dropout drop = pass.dropout(RandomDomain::kAttentionOutputDropout, p, layer);
  return add_norm(pass.compute, dense_ND, queries.y_ND, pass.norm(a.norm), drop, *queries.rows);
}

}  // namespace

at::Tensor attend(const Pass& pass, const Attention& a, const QueryStates& queries, const KeysValues& keys,
                  const at::Tensor& relative_RD, size_t layer) {
  AttentionInputs inputs = inputs_of(pass, a, queries.rows, relative_RD, layer);
  inputs.q_ND = apply(pass, a.query_proj, queries.y_ND);
  inputs.k_TD = keys.k_TD;
  inputs.v_TD = keys.v_TD;
  return add_norm_to(pass, a, apply(pass, a.dense, attention(pass.compute, inputs)), queries, layer);
}

at::Tensor attend_to_itself(const Pass& pass, const Attention& a, const at::Tensor& hidden_TD,
                            const at::Tensor& relative_RD, size_t layer) {
  const auto projection = [](const Linear& linear) {
    return SelfAttentionWeights::Projection{linear.weight_OI, linear.bias_O};
  };
  const SelfAttentionWeights weights{projection(a.query_proj), projection(a.key_proj), projection(a.value_proj),
                                     projection(a.dense)};
  const AttentionInputs inputs = inputs_of(pass, a, pass.tokens, relative_RD, layer);
  return add_norm_to(pass, a, self_attention(pass.compute, hidden_TD, inputs, weights), {hidden_TD, pass.tokens},
                     layer);
}

}  // namespace deberta::train
