// One layer (He et al. 2021, section 3.1, equation 4), for hidden states x and query states y:
//   Q = y Wq + bq    K = x Wk + bk    V = x Wv + bv                                       by heads
//   A_ij = ( Q_i . K_j  +  Q_i . Kr_row(i-j)  +  K_j . Qr_row(i-j) ) / sqrt(3 d)    3: the terms the model has
//   O = softmax(A) V
//   a = LN( O Wo + bo + y )
//   out = LN( act(a W1 + b1) W2 + b2 + a )
// y is x itself, except in the mask decoder (section 3.2). Kr and Qr, the relative table projected once, belong to the
// layer (weights.h); row: rel_lut.h. Not here: number formats (pass.h) and how threads share the rows (layer_blocks.h).
// T packed tokens, all of them keys  N query rows  H heads  K head size, the paper's d  D hidden  F feed-forward
#include "engine/layer.h"

#include "engine/layer_blocks.h"

namespace deberta {
namespace {

// A from the projected queries and keys, then O, into space.context_ND.
void disentangled_attention(const Pass& pass, const LayerStep& step, const QueryRows& queries, const Workspace& space) {
  AttentionParams p = attention_of_batch(pass, space);
  const auto heads = [&](const std::byte* rows_HTK, size_t rows) {
    return HeadRows<const void>{.data = rows_HTK, .token_stride = p.head_size, .head_stride = rows * p.head_size};
  };
  p.q = heads(space.q_HNK, queries.states.rows);
  p.k = heads(space.k_HTK, pass.batch.tokens());
  p.v = heads(space.v_HTK, pass.batch.tokens());
  p.kr = step.layer.kr;
  p.qr = step.layer.qr;
  p.has_c2p = p.kr.has_data();  // Q_i . Kr_row(i-j)
  p.has_p2c = p.qr.has_data();  // K_j . Qr_row(i-j)
  p.scale = pass.config.attention_scale();
  p.query_starts = queries.starts;
  p.query_positions = queries.positions_N;
  p.query_mask_T = queries.mask_N;
  p.scores = step.scores;
  attention(pass.kernels, p);
}

}  // namespace

void project_keys_values(const Pass& pass, const LayerWeights& layer, const Workspace& space) {
  project_heads(pass, layer.key_value, hidden_states(pass, space), space.k_HTK);  // K, and V right after it
}

void query_layer(const Pass& pass, const LayerStep& step, const QueryRows& queries, const Workspace& space) {
  const LayerWeights& layer = step.layer;
  project_heads(pass, layer.query, queries.states, space.q_HNK);  // Q
  if (queries.states.rows == 0) return;
  disentangled_attention(pass, step, queries, space);  // O
  LayerBlocks(pass, step, queries.states, space).for_each([&](const Pass& part, const LayerBlock& rows) {
    add_projection(part, layer.attention_output, rows.context_ND, rows.a_ND);       // O Wo + bo + y
    apply_norm(part, layer.attention_norm, rows.a_ND, {.consumer = &layer.up});     // a
    project_inner(part, layer.up, rows.a_ND, rows.inner_NF);                        // act(a W1 + b1)
    add_projection(part, layer.down, rows.inner_NF, rows.out_ND);                   // ... W2 + b2 + a
    apply_norm(part, layer.output_norm, rows.out_ND, {.consumer = step.consumer});  // out
  });
}

void encoder_layer(const Pass& pass, const LayerStep& step, const Workspace& space) {
  const QueryRows every_token{.states = hidden_states(pass, space), .mask_N = space.mask_T};
  project_keys_values(pass, step.layer, space);
  query_layer(pass, step, every_token, space);
}

}  // namespace deberta
