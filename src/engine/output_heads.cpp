// The heads (model-heads.md#heads), each in a few lines: what it loads, what it computes. Those of entities have a file
// of their own (entity_heads.cpp).
// B sequences  N rows that the head multiplies: one per sequence, per group, or the rows asked for  T packed tokens
// D hidden  E embedding size  V vocabulary  C classes
#include "engine/output_heads.h"

#include <algorithm>

#include "checkpoint/tensor_table.h"
#include "engine/entity_heads.h"
#include "engine/weight_loader.h"
#include "heads/kernel_names.h"
#include "kernels/pooling.h"
#include "kernels/row_moves.h"

namespace deberta {
namespace {

constexpr float kNoPieces = -10000;  // the original's logit of a mention without pieces

KernelActivation inner_activation(const Pass& pass) {
  return to_kernel(pass.head.facts->activation(pass.config));
}

PoolingInput pooling_input(const Pass& pass, const Workspace& space) {
  return {.pooling = to_kernel(pass.config.classifier_pooling),
          .hidden_TD = space.hidden_TD,
          .columns = as_size(pass.config.hidden_size),
          .starts = pass.batch.starts,
          .mask_T = space.mask_T,
          .query_D = pass.weights.head.pooling_query_D};
}

// Rows of the hidden states, into the head's buffer.
RowMoveParams to_head_rows(const Pass& pass, const Workspace& space, const int32_t* rows_N) {
  return {.x = space.hidden_TD,
          .rows_N = rows_N,
          .rows = head_rows(pass),
          .columns = as_size(pass.config.hidden_size),
          .y = space.head_rows_ND,
          .parallel = pass.parallel};
}

// The requested rows.
const float* find_rows(const Pass& pass, const Workspace& space) {
  if (pass.options.rows.empty()) return space.hidden_TD;
  gather_rows(pass.kernels, to_head_rows(pass, space, space.rows_N));
  return space.head_rows_ND;
}

// ---- no head

HeadWeights load_nothing(WeightLoader&) {
  return {};
}
void compute_nothing(const Pass&, const Workspace&, ForwardResult&) {}

// ---- sequences

HeadWeights load_sequence_head(WeightLoader& loader) {
  HeadWeights w;
  if (loader.config().classifier_pooling == ClassifierPooling::kAttention)
    w.pooling_query_D = loader.vector("pooler.attention.weight");
  w.dense = loader.linear("pooler.dense");
  w.classifier = loader.linear("classifier");
  return w;
}

// Whether any token of sequence b counts.
bool has_rows_to_pool(const Pass& pass, size_t b) {
  const PoolingInput input{.pooling = to_kernel(pass.config.classifier_pooling),
                           .starts = pass.batch.starts,
                           .mask_T = pass.batch.mask_T.empty() ? nullptr : pass.batch.mask_T.data()};
  return has_rows_to_pool(input, b);
}

// classifier( act( dense( pooled ) ) ). A sequence without tokens to pool has no answer: its results are zeros.
void compute_sequence_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const size_t sequences = pass.batch.sequences();
  const size_t hidden = as_size(pass.config.hidden_size);
  float* rows_BD = space.head_rows_ND;
  pool_rows(pass.kernels, pooling_input(pass, space), {.pooled_BD = rows_BD, .weights_T = space.pooling_weights_T},
            pass.parallel);
  float* pooled_BD = begin_result(space.pooled_BD, sequences * hidden, result.pooled_BD);
  apply_linear(pass, pass.weights.head.dense,
               {.x = rows_BD, .rows = sequences, .activation = inner_activation(pass), .y = pooled_BD});
  apply_output_layer(pass, {.x = pooled_BD, .rows = sequences}, space, result);
  finish_result(pass, space.pooled_BD, result.pooled_BD);
  for (size_t b = 0; b < sequences; ++b) {
    if (has_rows_to_pool(pass, b)) continue;
    std::fill_n(&result.pooled_BD[b * hidden], hidden, 0.0f);
    std::fill_n(&result.logits[b * result.logits_columns], result.logits_columns, 0.0f);
  }
}

// ---- tokens, spans

HeadWeights load_token_head(WeightLoader& loader) {
  HeadWeights w;
  w.classifier = loader.linear("classifier");
  return w;
}
HeadWeights load_span_head(WeightLoader& loader) {
  HeadWeights w;
  w.classifier = loader.linear("qa_outputs");
  return w;
}

// classifier(h) of the requested rows.
void compute_token_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  apply_output_layer(pass, {.x = find_rows(pass, space), .rows = head_rows(pass)}, space, result);
}

// ---- words

HeadWeights load_language_head(WeightLoader& loader) {
  const TensorView* own_output = own_output_table(loader.checkpoint(), loader.config());
  HeadWeights w;
  w.dense = loader.linear("lm_predictions.lm_head.dense");
  w.norm = loader.norm("lm_predictions.lm_head.LayerNorm");
  w.classifier = loader.weights_only(own_output != nullptr ? own_output->name : "embeddings.word_embeddings.weight",
                                     attention_precision(loader.precision()));
  w.classifier.bias = loader.vector("lm_predictions.lm_head.bias");
  return w;
}

// LN( act( dense(h) ) ) . word^T + bias: the output table is the input table.
void compute_language_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const HeadWeights& head = pass.weights.head;
  const float* x_ND = runs_mask_decoder(pass) ? space.head_rows_ND : find_rows(pass, space);
  const States inner{.x_TD = space.head_inner_ND, .operand = space.head_operand, .rows = head_rows(pass)};
  apply_linear(pass, head.dense,
               {.x = x_ND, .rows = inner.rows, .activation = inner_activation(pass), .y = space.head_inner_ND});
  apply_norm(pass, head.norm, inner, {});
  make_operand(pass, head.classifier, inner);
  apply_output_layer(pass, {.x = space.head_inner_ND, .operand = space.head_operand, .rows = inner.rows}, space,
                     result);
}

// ---- replaced tokens

HeadWeights load_replaced_token_head(WeightLoader& loader) {
  HeadWeights w;
  w.dense = loader.linear("mask_predictions.dense");
  w.norm = loader.norm("mask_predictions.LayerNorm");
  w.classifier = loader.linear("mask_predictions.classifier");
  return w;
}

// h_CLS + h of the requested rows.
void add_first(const Pass& pass, const Workspace& space) {
  const size_t rows = head_rows(pass);
  size_t sequence = 0;
  for (size_t n = 0; n < rows; ++n) {
    const size_t row = pass.options.rows.empty() ? n : as_size(pass.options.rows[n]);
    while (as_size(pass.batch.starts[sequence + 1]) <= row) ++sequence;
    space.first_rows_N.host[n] = pass.batch.starts[sequence];
  }
  upload(pass, space.first_rows_N, rows);
  gather_rows(pass.kernels, to_head_rows(pass, space, space.first_rows_N.device));
  add_rows(pass.kernels, to_head_rows(pass, space, space.rows_N));
}

// classifier( act( dense( LN(h_CLS + h) ) ) ): above 0 where a token was replaced.
void compute_replaced_token_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const size_t rows = head_rows(pass);
  add_first(pass, space);
  apply_norm(pass, pass.weights.head.norm, {.x_TD = space.head_rows_ND, .rows = rows}, {});
  apply_linear(pass, pass.weights.head.dense,
               {.x = space.head_rows_ND, .rows = rows, .activation = inner_activation(pass), .y = space.head_inner_ND});
  apply_output_layer(pass, {.x = space.head_inner_ND, .rows = rows}, space, result);
}

// ---- the original's tokens, or the mentions that its groups of pieces are

HeadWeights load_original_token_head(WeightLoader& loader) {
  HeadWeights w;
  w.dense = loader.linear("proj");
  w.classifier = loader.linear("classifier");
  return w;
}

// The rows of all groups, one group after the other, for operations. Returns how many.
size_t stage_group_rows(const Pass& pass, const Workspace& space) {
  size_t rows = 0;
  for (const TokenGroup& group : pass.options.groups) {
    for (const int32_t row : group.rows) space.group_rows.host[rows++] = row;
  }
  upload(pass, space.group_rows, rows);
  return rows;
}

// One row for each mention: its pieces, weighed by the softmax of h . h_CLS / sqrt(D).
void pool_mentions(const Pass& pass, const Workspace& space) {
  const std::vector<TokenGroup>& mentions = pass.options.groups;
  int32_t* starts = space.group_starts.host;
  starts[0] = 0;
  for (size_t n = 0; n < mentions.size(); ++n) {
    starts[n + 1] = starts[n] + static_cast<int32_t>(mentions[n].rows.size());
    space.first_rows_N.host[n] = pass.batch.starts[as_size(mentions[n].sequence)];
  }
  stage_group_rows(pass, space);
  upload(pass, space.group_starts, mentions.size() + 1);
  upload(pass, space.first_rows_N, mentions.size());
  pool_groups(pass.kernels, {.hidden_TD = space.hidden_TD,
                             .columns = as_size(pass.config.hidden_size),
                             .group_starts = space.group_starts.device,
                             .rows = space.group_rows.device,
                             .query_rows_N = space.first_rows_N.device,
                             .groups = mentions.size(),
                             .weights = space.group_weights,
                             .pooled_ND = space.head_rows_ND,
                             .parallel = pass.parallel});
}

// classifier( gelu( proj(h) ) ), gelu whatever hidden_act says; h of the rows asked for, or of each mention.
void compute_original_token_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const std::vector<TokenGroup>& mentions = pass.options.groups;
  const size_t rows = head_rows(pass);
  const float* x_ND = space.head_rows_ND;
  if (mentions.empty()) x_ND = find_rows(pass, space);
  if (!mentions.empty()) pool_mentions(pass, space);
  apply_linear(pass, pass.weights.head.dense,
               {.x = x_ND, .rows = rows, .activation = inner_activation(pass), .y = space.head_inner_ND});
  apply_output_layer(pass, {.x = space.head_inner_ND, .rows = rows}, space, result);
  const size_t classes = result.logits_columns;
  for (size_t n = 0; n < mentions.size(); ++n) {
    if (mentions[n].rows.empty()) std::fill_n(&result.logits[n * classes], classes, kNoPieces);
  }
}

}  // namespace

float* begin_result(float* buffer, size_t count, std::vector<float>& result) {
  result.resize(count);
  return buffer != nullptr ? buffer : result.data();
}

void finish_result(const Pass& pass, const float* buffer, std::vector<float>& result) {
  if (buffer != nullptr) copy_to_host(pass, buffer, result.size(), result);
}

EngineHead engine_head(Head head) {
  const HeadFacts* facts = &facts_of(head);
  switch (head) {  // without default: a head that nothing computes does not compile
    case Head::kNone:
      return {facts, load_nothing, compute_nothing};
    case Head::kSequence:
      return {facts, load_sequence_head, compute_sequence_head};
    case Head::kToken:
      return {facts, load_token_head, compute_token_head};
    case Head::kTokenOriginal:
      return {facts, load_original_token_head, compute_original_token_head};
    case Head::kSpan:
      return {facts, load_span_head, compute_token_head};
    case Head::kMaskedLm:
      return {facts, load_language_head, compute_language_head};
    case Head::kReplacedToken:
      return {facts, load_replaced_token_head, compute_replaced_token_head};
    case Head::kEntitySpans:
      return {facts, load_entity_spans, compute_entity_spans};
    case Head::kEntityWords:
      return {facts, load_entity_words, compute_entity_words};
  }
  return {};  // facts_of() has refused any other
}

size_t head_rows(const Pass& pass) {
  const HeadFacts& head = *pass.head.facts;
  if (!pass.options.wants_logits) return 0;
  if (head.is_per_sequence()) return pass.batch.sequences();
  if (head.takes_labelled_words()) return entity_shape(pass).labels + entity_shape(pass).pieces;
  if (!head.takes_rows() || !pass.options.groups.empty()) return pass.options.groups.size();
  return pass.options.rows.empty() ? pass.batch.tokens() : pass.options.rows.size();
}

size_t head_columns(const Pass& pass) {
  return as_size(pass.head.facts->states_per_row() * pass.config.hidden_size);
}

size_t head_inner_columns(const Pass& pass) {
  const HeadFacts& head = *pass.head.facts;
  const bool is_result = head.is_per_sequence();  // ForwardResult::pooled_BD
  return head.inner == HeadInner::kNone || is_result ? 0 : pass.weights.head.dense.weights.outputs;
}

const float* find_group_rows(const Pass& pass, const Workspace& space) {
  RowMoveParams move = to_head_rows(pass, space, space.group_rows.device);
  move.rows = stage_group_rows(pass, space);
  gather_rows(pass.kernels, move);
  return space.head_rows_ND;
}

void apply_output_layer(const Pass& pass, LinearStep input, const Workspace& space, ForwardResult& result) {
  const Linear& classifier = pass.weights.head.classifier;
  result.logits_rows = input.rows;
  result.logits_columns = classifier.weights.outputs;
  input.y = begin_result(space.logits_NC, result.logits_rows * result.logits_columns, result.logits);
  apply_linear(pass, classifier, input);
  finish_result(pass, space.logits_NC, result.logits);
}

}  // namespace deberta
