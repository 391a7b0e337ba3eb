// The heads (model.md#heads), each in a few lines.
// N rows given to the head: one per sequence (pooler), per mention, or the rows asked for  T packed tokens  D hidden
// E embedding size  V vocabulary  C classes
#include "engine/output_heads.h"

#include <algorithm>
#include <cmath>

#include "engine/activation.h"
#include "engine/pooling.h"

namespace deberta {
namespace {

constexpr float kNoMention = -10000;  // the original's logit of a mention without pieces

PoolingInput pooling_input(const Pass& pass, const float* hidden_TD) {
  return {.pooling = pass.config.classifier_pooling,
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

// Heads are fp32, except for the word table of a language model. `input`: all but y.
void classify(const Pass& pass, LinearStep input, ForwardResult& result) {
  const Linear& classifier = pass.weights.head.classifier;
  result.logits_rows = input.rows;
  result.logits_columns = classifier.weights.outputs;
  result.logits.resize(result.logits_rows * result.logits_columns);
  input.y = result.logits.data();
  apply_linear(pass, classifier, input);
}

// classifier( act( dense( pooled ) ) ). A sequence without tokens to pool has no answer: its results are zeros.
void run_sequence_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const size_t sequences = pass.batch.sequences();
  const size_t hidden = as_size(pass.config.hidden_size);
  float* rows_BD = space.head_rows_ND;
  const PoolingInput input = pooling_input(pass, space.hidden_TD);
  pool_rows(input, {.pooled_BD = rows_BD, .weights_T = space.pooling_weights_T}, pass.parallel);
  result.pooled_BD.resize(sequences * hidden);
  apply_linear(pass, pass.weights.head.dense,
               {.x = rows_BD,
                .rows = sequences,
                .activation = to_kernel(pass.config.pooler_hidden_act),
                .y = result.pooled_BD.data()});
  classify(pass, {.x = result.pooled_BD.data(), .rows = sequences}, result);
  for (size_t b = 0; b < sequences; ++b) {
    if (has_rows_to_pool(input, b)) continue;
    std::fill_n(&result.pooled_BD[b * hidden], hidden, 0.0f);
    std::fill_n(&result.logits[b * result.logits_columns], result.logits_columns, 0.0f);
  }
}

// LN( act( dense(h) ) ) . word^T + bias: the output table is the input table.
void run_language_model(const Pass& pass, const float* x_ND, const Workspace& space, ForwardResult& result) {
  const HeadWeights& head = pass.weights.head;
  const States inner{.x_TD = space.head_inner_ND, .operand = space.head_operand, .rows = head_rows(pass)};
  apply_linear(
      pass, head.dense,
      {.x = x_ND, .rows = inner.rows, .activation = to_kernel(pass.config.hidden_act), .y = space.head_inner_ND});
  apply_norm(pass, head.norm, inner, {});
  make_operand(pass, head.classifier, inner);
  classify(pass, {.x = space.head_inner_ND, .operand = space.head_operand, .rows = inner.rows}, result);
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
void run_replaced_token(const Pass& pass, const Workspace& space, size_t rows, ForwardResult& result) {
  add_first(pass, space.hidden_TD, rows, space.head_rows_ND);
  apply_norm(pass, pass.weights.head.norm, {.x_TD = space.head_rows_ND, .rows = rows}, {});
  apply_linear(pass, pass.weights.head.dense,
               {.x = space.head_rows_ND,
                .rows = rows,
                .activation = to_kernel(pass.config.hidden_act),
                .y = space.head_inner_ND});
  classify(pass, {.x = space.head_inner_ND, .rows = rows}, result);
}

// Weights of the pieces: softmax of h . h_CLS / sqrt(D).
std::vector<double> weigh_pieces(const Pass& pass, const float* hidden_TD, const Mention& mention) {
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

void gather_mention(const Pass& pass, const float* hidden_TD, const Mention& mention, float* row_D) {
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
void run_original_token_head(const Pass& pass, const Workspace& space, size_t rows, ForwardResult& result) {
  const std::vector<Mention>& mentions = pass.options.mentions;
  const float* x_ND = space.head_rows_ND;
  if (mentions.empty()) x_ND = gather_rows(pass, space.hidden_TD, space.head_rows_ND);
  for (size_t n = 0; n < mentions.size(); ++n) {
    gather_mention(pass, space.hidden_TD, mentions[n], space.head_rows_ND + n * as_size(pass.config.hidden_size));
  }
  apply_linear(pass, pass.weights.head.dense,
               {.x = x_ND, .rows = rows, .activation = KernelActivation::kGelu, .y = space.head_inner_ND});
  classify(pass, {.x = space.head_inner_ND, .rows = rows}, result);
  for (size_t n = 0; n < mentions.size(); ++n) {
    if (mentions[n].rows.empty()) result.logits[n] = kNoMention;
  }
}

}  // namespace

size_t head_rows(const Pass& pass) {
  if (!pass.options.wants_logits) return 0;
  if (pass.head == Head::kSequence) return pass.batch.sequences();
  if (!pass.options.mentions.empty()) return pass.options.mentions.size();
  return pass.options.rows.empty() ? pass.batch.tokens() : pass.options.rows.size();
}

size_t head_inner_columns(const Pass& pass) {
  const bool has_inner =
      pass.head == Head::kMaskedLm || pass.head == Head::kTokenOriginal || pass.head == Head::kReplacedToken;
  return has_inner ? pass.weights.head.dense.weights.outputs : 0;
}

void run_head(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const size_t rows = head_rows(pass);
  const float* hidden_TD = space.hidden_TD;
  float* rows_ND = space.head_rows_ND;
  switch (pass.head) {
    case Head::kNone:
      return;
    case Head::kSequence:
      return run_sequence_head(pass, space, result);
    case Head::kToken:
    case Head::kSpan:
      return classify(pass, {.x = gather_rows(pass, hidden_TD, rows_ND), .rows = rows}, result);
    case Head::kTokenOriginal:
      return run_original_token_head(pass, space, rows, result);
    case Head::kMaskedLm:
      return run_language_model(pass, runs_mask_decoder(pass) ? rows_ND : gather_rows(pass, hidden_TD, rows_ND), space,
                                result);
    case Head::kReplacedToken:
      return run_replaced_token(pass, space, rows, result);
  }
}

}  // namespace deberta
