// The heads (model.md#heads), each in a few lines: what it loads, what it computes.
// B sequences  N rows that the head multiplies: one per sequence, per group, or the rows asked for  T packed tokens
// D hidden  E embedding size  V vocabulary  C classes
#include "engine/output_heads.h"

#include <algorithm>
#include <cmath>

#include "checkpoint/tensor_table.h"
#include "engine/activation.h"
#include "engine/weight_loader.h"
#include "kernels/pooling.h"

namespace deberta {
namespace {

constexpr float kNoPieces = -10000;  // the original's logit of a mention without pieces

KernelActivation inner_activation(const Pass& pass) {
  return to_kernel(pass.head.facts->activation(pass.config));
}

PoolingInput pooling_input(const Pass& pass, const float* hidden_TD) {
  return {.pooling = to_kernel(pass.config.classifier_pooling),
          .hidden_TD = hidden_TD,
          .columns = as_size(pass.config.hidden_size),
          .starts = pass.batch.starts,
          .mask_T = pass.batch.mask_T.empty() ? nullptr : pass.batch.mask_T.data(),
          .query_D = pass.weights.head.pooling_query_D};
}

const float* gather_rows(const Pass& pass, const float* hidden_TD, float* rows_ND) {
  if (pass.options.rows.empty()) return hidden_TD;
  const size_t hidden = as_size(pass.config.hidden_size);
  for (size_t n = 0; n < pass.options.rows.size(); ++n) {
    std::copy_n(hidden_TD + as_size(pass.options.rows[n]) * hidden, hidden, rows_ND + n * hidden);
  }
  return rows_ND;
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

// classifier( act( dense( pooled ) ) ). A sequence without tokens to pool has no answer: its results are zeros.
void compute_sequence_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const size_t sequences = pass.batch.sequences();
  const size_t hidden = as_size(pass.config.hidden_size);
  float* rows_BD = space.head_rows_ND;
  const PoolingInput input = pooling_input(pass, space.hidden_TD);
  pool_rows(pass.kernels, input, {.pooled_BD = rows_BD, .weights_T = space.pooling_weights_T}, pass.parallel);
  result.pooled_BD.resize(sequences * hidden);
  apply_linear(pass, pass.weights.head.dense,
               {.x = rows_BD, .rows = sequences, .activation = inner_activation(pass), .y = result.pooled_BD.data()});
  apply_output_layer(pass, {.x = result.pooled_BD.data(), .rows = sequences}, result);
  for (size_t b = 0; b < sequences; ++b) {
    if (has_rows_to_pool(input, b)) continue;
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

// classifier(h) of the rows asked for.
void compute_token_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  apply_output_layer(pass, {.x = gather_rows(pass, space.hidden_TD, space.head_rows_ND), .rows = head_rows(pass)},
                     result);
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
  const float* x_ND =
      runs_mask_decoder(pass) ? space.head_rows_ND : gather_rows(pass, space.hidden_TD, space.head_rows_ND);
  const States inner{.x_TD = space.head_inner_ND, .operand = space.head_operand, .rows = head_rows(pass)};
  apply_linear(pass, head.dense,
               {.x = x_ND, .rows = inner.rows, .activation = inner_activation(pass), .y = space.head_inner_ND});
  apply_norm(pass, head.norm, inner, {});
  make_operand(pass, head.classifier, inner);
  apply_output_layer(pass, {.x = space.head_inner_ND, .operand = space.head_operand, .rows = inner.rows}, result);
}

// ---- replaced tokens

HeadWeights load_replaced_token_head(WeightLoader& loader) {
  HeadWeights w;
  w.dense = loader.linear("mask_predictions.dense");
  w.norm = loader.norm("mask_predictions.LayerNorm");
  w.classifier = loader.linear("mask_predictions.classifier");
  return w;
}

// h_CLS + h of the rows asked for.
void add_first(const Pass& pass, const float* hidden_TD, size_t rows, float* rows_ND) {
  const size_t hidden = as_size(pass.config.hidden_size);
  size_t sequence = 0;
  for (size_t n = 0; n < rows; ++n) {
    const size_t row = pass.options.rows.empty() ? n : as_size(pass.options.rows[n]);
    while (as_size(pass.batch.starts[sequence + 1]) <= row) ++sequence;
    const float* first_D = hidden_TD + as_size(pass.batch.starts[sequence]) * hidden;
    for (size_t d = 0; d < hidden; ++d) rows_ND[n * hidden + d] = first_D[d] + hidden_TD[row * hidden + d];
  }
}

// classifier( act( dense( LN(h_CLS + h) ) ) ): above 0 where a token was replaced.
void compute_replaced_token_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const size_t rows = head_rows(pass);
  add_first(pass, space.hidden_TD, rows, space.head_rows_ND);
  apply_norm(pass, pass.weights.head.norm, {.x_TD = space.head_rows_ND, .rows = rows}, {});
  apply_linear(pass, pass.weights.head.dense,
               {.x = space.head_rows_ND, .rows = rows, .activation = inner_activation(pass), .y = space.head_inner_ND});
  apply_output_layer(pass, {.x = space.head_inner_ND, .rows = rows}, result);
}

// ---- the original's tokens, or the mentions that its groups of pieces are

HeadWeights load_original_token_head(WeightLoader& loader) {
  HeadWeights w;
  w.dense = loader.linear("proj");
  w.classifier = loader.linear("classifier");
  return w;
}

// Weights of the pieces: softmax of h . h_CLS / sqrt(D).
std::vector<double> weigh_pieces(const Pass& pass, const float* hidden_TD, const TokenGroup& mention) {
  const size_t hidden = as_size(pass.config.hidden_size);
  const float* first_D = hidden_TD + as_size(pass.batch.starts[as_size(mention.sequence)]) * hidden;
  std::vector<double> weights;
  for (const int32_t row : mention.rows) {
    const float* h_D = hidden_TD + as_size(row) * hidden;
    double sum = 0;
    for (size_t d = 0; d < hidden; ++d) sum += double{h_D[d]} * double{first_D[d]};
    weights.push_back(sum / std::sqrt(static_cast<double>(hidden)));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& weight : weights) total += weight = std::exp(weight - largest);
  for (double& weight : weights) weight /= total;
  return weights;
}

void gather_mention(const Pass& pass, const float* hidden_TD, const TokenGroup& mention, float* row_D) {
  const size_t hidden = as_size(pass.config.hidden_size);
  std::fill_n(row_D, hidden, 0.0f);
  if (mention.rows.empty()) return;
  const std::vector<double> weights = weigh_pieces(pass, hidden_TD, mention);
  for (size_t d = 0; d < hidden; ++d) {
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      sum += weights[i] * double{hidden_TD[as_size(mention.rows[i]) * hidden + d]};
    }
    row_D[d] = static_cast<float>(sum);
  }
}

// classifier( gelu( proj(h) ) ), gelu whatever hidden_act says; h of the rows asked for, or of each mention.
void compute_original_token_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const std::vector<TokenGroup>& mentions = pass.options.groups;
  const size_t rows = head_rows(pass);
  const float* x_ND = space.head_rows_ND;
  if (mentions.empty()) x_ND = gather_rows(pass, space.hidden_TD, space.head_rows_ND);
  for (size_t n = 0; n < mentions.size(); ++n) {
    gather_mention(pass, space.hidden_TD, mentions[n], space.head_rows_ND + n * as_size(pass.config.hidden_size));
  }
  apply_linear(pass, pass.weights.head.dense,
               {.x = x_ND, .rows = rows, .activation = inner_activation(pass), .y = space.head_inner_ND});
  apply_output_layer(pass, {.x = space.head_inner_ND, .rows = rows}, result);
  const size_t classes = result.logits_columns;
  for (size_t n = 0; n < mentions.size(); ++n) {
    if (mentions[n].rows.empty()) std::fill_n(&result.logits[n * classes], classes, kNoPieces);
  }
}

}  // namespace

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
  }
  return {};  // facts_of() has refused any other
}

size_t head_rows(const Pass& pass) {
  const HeadFacts& head = *pass.head.facts;
  if (!pass.options.wants_logits) return 0;
  if (head.is_per_sequence()) return pass.batch.sequences();
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

void apply_output_layer(const Pass& pass, LinearStep input, ForwardResult& result) {
  const Linear& classifier = pass.weights.head.classifier;
  result.logits_rows = input.rows;
  result.logits_columns = classifier.weights.outputs;
  result.logits.resize(result.logits_rows * result.logits_columns);
  input.y = result.logits.data();
  apply_linear(pass, classifier, input);
}

}  // namespace deberta
