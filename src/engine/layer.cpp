// T packed tokens  N query rows  H heads  K head size  D hidden  F feed-forward
#include "engine/layer.h"

#include <cmath>

namespace deberta {
namespace {

// Columns of a projection as heads, [..., H, rows, K].
void project(const Pass& pass, const Linear& linear, const float* x, size_t rows, float* out_HRK) {
  GemmParams p{};
  p.a_MK = x;
  p.rows = rows;
  p.weights = linear.weights;
  p.bias_N = linear.bias;
  p.c_MN = out_HRK;
  p.head_size = as_size(pass.config.attention_head_size);
  p.head_stride = rows * p.head_size;
  p.parallel = pass.parallel;
  gemm(pass.kernels, p);
}

// Queries lie in the first third, keys and values of all tokens behind it.
size_t part_size(const Pass& pass) {
  return pass.batch.tokens() * as_size(pass.config.hidden_size);
}

void attend(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, const Workspace& space,
            const AttentionScoreOutputs& scores) {
  AttentionParams p = base_attention(pass, space);
  const size_t part = part_size(pass);
  const size_t head_stride = pass.batch.tokens() * p.head_size;
  p.q = {space.qkv_3HTK, p.head_size, queries.rows * p.head_size};
  p.k = {space.qkv_3HTK + part, p.head_size, head_stride};
  p.v = {space.qkv_3HTK + 2 * part, p.head_size, head_stride};
  p.out = {space.context_TD, p.heads * p.head_size, p.head_size};
  p.query_starts = queries.starts;
  p.query_positions = queries.positions_N;
  p.query_mask_T = queries.mask_N;
  p.has_c2p = layer.kr.has_data();
  p.has_p2c = layer.qr.has_data();
  p.kr = layer.kr;
  p.qr = layer.qr;
  p.scores = scores;
  p.scratch = space.attention_scratch;
  attention(pass.kernels, p);
}

// x = LN(input W^T + b + x): the residual is the query state.
void add_and_norm(const Pass& pass, const Linear& linear, const Norm& norm, const float* input,
                  const QueryRows& queries) {
  GemmParams p{};
  p.a_MK = input;
  p.rows = queries.rows;
  p.weights = linear.weights;
  p.bias_N = linear.bias;
  p.residual_MN = p.c_MN = queries.x_ND;
  p.parallel = pass.parallel;
  gemm(pass.kernels, p);
  apply_norm(pass, norm, {.x = queries.x_ND, .rows = queries.rows, .columns = as_size(pass.config.hidden_size)});
}

// Queries, keys and values have been projected.
void finish_layer(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, const Workspace& space,
                  const AttentionScoreOutputs& scores) {
  attend(pass, layer, queries, space, scores);
  add_and_norm(pass, layer.attention_output, layer.attention_norm, space.context_TD, queries);
  apply_linear(pass, layer.up, queries.x_ND, queries.rows, to_kernel(pass.config.hidden_act), space.inner_TF);
  add_and_norm(pass, layer.down, layer.output_norm, space.inner_TF, queries);
}

}  // namespace

AttentionParams base_attention(const Pass& pass, const Workspace& space) {
  const Batch& batch = pass.batch;
  AttentionParams p{};
  p.sequences = batch.sequences();
  p.heads = as_size(pass.config.num_attention_heads);
  p.head_size = as_size(pass.config.attention_head_size);
  p.starts = batch.starts.data();
  p.scale = 1 / std::sqrt(static_cast<double>(pass.config.attention_head_size * pass.config.attention_terms()));
  p.lut = pass.lut;
  p.relative_rows = as_size(2 * pass.config.span());
  if (!batch.given_buckets_LL.empty()) p.given_buckets_LS = batch.given_buckets_LL.data();
  p.given_stride = as_size(batch.given_length);
  if (!batch.mask_T.empty()) p.key_mask_T = batch.mask_T.data();
  p.masks_B = space.masks_B;
  p.averages_empty_rows = pass.empty_rows == EmptyRows::kAverage;
  p.parallel = pass.parallel;
  return p;
}

void project_keys_values(const Pass& pass, const LayerWeights& layer, const Workspace& space) {
  project(pass, layer.key_value, space.hidden_TD, pass.batch.tokens(), space.qkv_3HTK + part_size(pass));
}

void query_layer(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, const Workspace& space) {
  project(pass, layer.query, queries.x_ND, queries.rows, space.qkv_3HTK);
  finish_layer(pass, layer, queries, space, {});
}

void encoder_layer(const Pass& pass, const LayerWeights& layer, const Workspace& space,
                   const AttentionScoreOutputs& scores) {
  const QueryRows all{.x_ND = space.hidden_TD,
                      .rows = pass.batch.tokens(),
                      .mask_N = pass.batch.mask_T.empty() ? nullptr : pass.batch.mask_T.data()};
  if (layer.qkv.weights.panels != nullptr) {
    project(pass, layer.qkv, all.x_ND, all.rows, space.qkv_3HTK);
  } else {
    project(pass, layer.query, all.x_ND, all.rows, space.qkv_3HTK);
    project_keys_values(pass, layer, space);
  }
  finish_layer(pass, layer, all, space, scores);
}

}  // namespace deberta
