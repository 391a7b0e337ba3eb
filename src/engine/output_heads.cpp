// What stands on h_N (algorithm.md 7 and 13), each head in a few lines.
// N rows given to the head: one per sequence (pooler) or the rows asked for  D hidden  E embedding size  V vocabulary
// C classes
#include <algorithm>

#include "base/error.h"
#include "engine/forward.h"

namespace deberta {
namespace {

size_t as_size(int64_t value) {
  return static_cast<size_t>(value);
}

bool is_empty(const Batch& batch, size_t sequence) {
  return batch.starts[sequence] == batch.starts[sequence + 1];
}

// The first token of each sequence; zeros for an empty one.
void gather_first(const Pass& pass, const float* hidden_TD, float* rows_BD) {
  const size_t hidden = as_size(pass.config.hidden_size);
  for (size_t b = 0; b < pass.batch.sequences(); ++b) {
    float* row_D = rows_BD + b * hidden;
    if (is_empty(pass.batch, b)) {
      std::fill_n(row_D, hidden, 0.0f);
    } else {
      std::copy_n(hidden_TD + as_size(pass.batch.starts[b]) * hidden, hidden, row_D);
    }
  }
}

const float* gather_rows(const Pass& pass, const float* hidden_TD, float* rows_ND) {
  if (pass.options.rows.empty()) return hidden_TD;
  const size_t hidden = as_size(pass.config.hidden_size);
  for (size_t n = 0; n < pass.options.rows.size(); ++n) {
    std::copy_n(hidden_TD + as_size(pass.options.rows[n]) * hidden, hidden, rows_ND + n * hidden);
  }
  return rows_ND;
}

void classify(const Pass& pass, const float* x, size_t rows, ForwardResult& result) {
  const Linear& classifier = pass.weights.head.classifier;
  result.logits_rows = rows;
  result.logits_columns = classifier.weights.outputs;
  result.logits.resize(rows * result.logits_columns);
  apply_linear(pass, classifier, x, rows, KernelActivation::kLinear, result.logits.data());
}

// classifier( act( dense( first token ) ) ). An empty sequence has no first token: its results are zeros.
void run_sequence_head(const Pass& pass, const float* hidden_TD, float* rows_BD, ForwardResult& result) {
  const size_t sequences = pass.batch.sequences();
  const size_t hidden = as_size(pass.config.hidden_size);
  gather_first(pass, hidden_TD, rows_BD);
  result.pooled_BD.resize(sequences * hidden);
  apply_linear(pass, pass.weights.head.dense, rows_BD, sequences, to_kernel(pass.config.pooler_hidden_act),
               result.pooled_BD.data());
  classify(pass, result.pooled_BD.data(), sequences, result);
  for (size_t b = 0; b < sequences; ++b) {
    if (!is_empty(pass.batch, b)) continue;
    std::fill_n(&result.pooled_BD[b * hidden], hidden, 0.0f);
    std::fill_n(&result.logits[b * result.logits_columns], result.logits_columns, 0.0f);
  }
}

// LN( act( dense(h) ) ) . word^T + bias: the output table is the input table.
void run_language_model(const Pass& pass, const float* x_ND, float* inner_NE, size_t rows, ForwardResult& result) {
  apply_linear(pass, pass.weights.head.dense, x_ND, rows, to_kernel(pass.config.hidden_act), inner_NE);
  apply_norm(pass, pass.weights.head.norm, inner_NE, rows, as_size(pass.config.embedding_size));
  classify(pass, inner_NE, rows, result);
}

}  // namespace

size_t head_rows(const Pass& pass) {
  if (!pass.options.wants_logits) return 0;
  if (pass.head == Head::kSequence) return pass.batch.sequences();
  return pass.options.rows.empty() ? pass.batch.tokens() : pass.options.rows.size();
}

size_t head_inner_columns(const Pass& pass) {
  return pass.head == Head::kMaskedLm || pass.head == Head::kTokenOriginal ? pass.weights.head.dense.weights.outputs
                                                                           : 0;
}

void run_head(const Pass& pass, const float* hidden_TD, float* rows_ND, float* inner_ND, ForwardResult& result) {
  const size_t rows = head_rows(pass);
  switch (pass.head) {
    case Head::kNone:
      return;
    case Head::kSequence:
      return run_sequence_head(pass, hidden_TD, rows_ND, result);
    case Head::kToken:
    case Head::kSpan:
      return classify(pass, gather_rows(pass, hidden_TD, rows_ND), rows, result);
    case Head::kTokenOriginal:  // gelu whatever hidden_act says
      apply_linear(pass, pass.weights.head.dense, gather_rows(pass, hidden_TD, rows_ND), rows, KernelActivation::kGelu,
                   inner_ND);
      return classify(pass, inner_ND, rows, result);
    case Head::kMaskedLm:
      return run_language_model(pass, gather_rows(pass, hidden_TD, rows_ND), inner_ND, rows, result);
    case Head::kReplacedToken:
      break;
  }
  throw Error(ErrorCode::kUnsupported, "head",
              "the head that finds replaced tokens is not computed by this version; hidden states are");
}

}  // namespace deberta
