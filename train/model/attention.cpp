// Projects queries, keys, values and the relative table, and calls ops/attention.h; p2p doubles the head size.
#include "train/model/attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

#include "train/model/block.h"
#include "train/model/relative_position.h"
#include "train/ops/attention.h"
#include "train/ops/self_attention.h"

namespace deberta::train {
namespace {

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
  const at::Tensor x_TD = enter_block(pass, a.norm, hidden_TD);
  return {apply(pass, a.key_proj, x_TD), apply(pass, a.value_proj, x_TD)};
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
  inputs.scale = c.attention_scale();
  inputs.is_causal = c.is_causal;
  inputs.dropout = pass.dropout(RandomDomain::kAttentionDropout, c.attention_probs_dropout_prob, layer);
  return inputs;
}

at::Tensor add_norm_to(const Pass& pass, const Attention& a, const at::Tensor& dense_ND, const QueryStates& queries,
                       size_t layer) {
  const double p = pass.form.config.hidden_dropout_prob;
  const Dropout drop = pass.dropout(RandomDomain::kAttentionOutputDropout, p, layer);
  return leave_block(pass, a.norm, dense_ND, queries.y_ND, drop, *queries.rows);
}

// The row of P~ for the distance of each query from the first token of its sequence.
std::vector<int32_t> rows_of_positions(const Rows& queries, const RelLut& lut) {
  std::vector<int32_t> rows_N(queries.count());
  for (size_t b = 0; b < queries.sequences(); ++b) {
    for (size_t n = queries.begin(b); n < queries.end(b); ++n) rows_N[n] = lut.row(queries.position(b, n));
  }
  return rows_N;
}

// a and b [N, D] side by side in each head: [N, 2 D].
at::Tensor join_in_heads(int64_t heads, const at::Tensor& a_ND, const at::Tensor& b_ND) {
  const int64_t rows = a_ND.size(0);
  return at::cat({a_ND.view({rows, heads, -1}), b_ND.view({rows, heads, -1})}, 2).view({rows, -1});
}

// p2p adds Qr_row(i) . Kr_row(i-j): what c2p computes for a query Q_i + Qr_row(i). The other terms have the query
// alone, so that heads are twice as wide, with zeros where a half does not count.
at::Tensor attend_with_p2p(const Pass& pass, AttentionInputs inputs) {
  const int64_t heads = inputs.heads, queries = inputs.q_ND.size(0);
  const at::Tensor own_ND = take_rows(inputs.qr_RD, rows_of_positions(*inputs.queries, *inputs.lut));
  const auto before_zeros = [&](const at::Tensor& x) { return join_in_heads(heads, x, at::zeros_like(x)); };
  inputs.q_ND = join_in_heads(heads, inputs.q_ND, inputs.q_ND + own_ND);
  inputs.k_TD = before_zeros(inputs.k_TD);
  inputs.v_TD = before_zeros(inputs.v_TD);
  inputs.qr_RD = before_zeros(inputs.qr_RD);
  inputs.kr_RD = join_in_heads(heads, at::zeros_like(inputs.kr_RD), inputs.kr_RD);
  const at::Tensor both = attention(pass.compute, inputs).view({queries, heads, 2, -1});
  return both.select(2, 0).reshape({queries, -1});
}

}  // namespace

at::Tensor attend(const Pass& pass, const Attention& a, const QueryStates& queries, const KeysValues& keys,
                  const at::Tensor& relative_RD, size_t layer) {
  AttentionInputs inputs = inputs_of(pass, a, queries.rows, relative_RD, layer);
  inputs.q_ND = apply(pass, a.query_proj, enter_block(pass, a.norm, queries.y_ND));
  inputs.k_TD = keys.k_TD;
  inputs.v_TD = keys.v_TD;
  const at::Tensor mixed_ND = pass.form.has_p2p() ? attend_with_p2p(pass, inputs) : attention(pass.compute, inputs);
  return add_norm_to(pass, a, apply(pass, a.dense, mixed_ND), queries, layer);
}

at::Tensor attend_to_itself(const Pass& pass, const Attention& a, const at::Tensor& hidden_TD,
                            const at::Tensor& relative_RD, size_t layer) {
  const QueryStates all{hidden_TD, pass.tokens};
  if (pass.form.has_p2p()) {
    return attend(pass, a, all, project_keys_values(pass, a, hidden_TD), relative_RD, layer);
  }
  const auto projection = [](const Linear& linear) {
    return SelfAttentionWeights::Projection{linear.weight_OI, linear.bias_O};
  };
  const SelfAttentionWeights weights{projection(a.query_proj), projection(a.key_proj), projection(a.value_proj),
                                     projection(a.dense)};
  const AttentionInputs inputs = inputs_of(pass, a, pass.tokens, relative_RD, layer);
  const at::Tensor x_TD = enter_block(pass, a.norm, hidden_TD);
  return add_norm_to(pass, a, self_attention(pass.compute, x_TD, inputs, weights), all, layer);
}

}  // namespace deberta::train
