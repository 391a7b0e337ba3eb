// The heads (model-heads.md#heads) on hidden states h:
//   sequence         classifier( drop( act( dense( drop(pooled) ) ) ) )   also regression, several labels and choices
//   token            classifier( drop(h) )
//   original token   classifier( drop( gelu( proj(h) ) ) )
//   span             qa_outputs(h)                                        start and end
//   masked LM        z . word^T + bias,  z = LN( act( dense(h) ) )        the output table is the input table
//   replaced token   classifier( act( dense( LN(h_CLS + h) ) ) )
//   entities         entity_head.h
// pooled is h_CLS, or what pooling.h makes of all tokens. The logits have C columns, the classes of the form; of a span
// 2, of a masked LM V, of replaced tokens 1, of entities 1 or 3.
// B sequences  N rows  T packed tokens  D hidden  E embedding size  V vocabulary  C classes
#pragma once
#include <span>

#include "deberta/model.h"
#include "train/model/entity_head.h"
#include "train/model/pass.h"

namespace deberta::train {

struct Model;

struct OutputHead {
  at::Tensor pooling_query_D;  // query of a pooler by attention
  Linear dense;                // layer of the pooler, the projection or the transform
  Norm norm;                   // norm of the language model and of the replaced tokens
  Linear classifier;           // qa_outputs of a span head
  at::Tensor bias_V;           // output bias of the language model
  EntityHead entities;
};
void visit(OutputHead& head, const ModelForm& form, const Visit& each);

// What logits are wanted for, by heads that take rows, groups or labelled words (heads/head_facts.h).
struct HeadRequest {
  std::span<const int32_t> rows_N = {};  // ascending
  std::span<const TokenGroup> groups = {};
  std::span<const LabelledWords> entities = {};
};

// A head as the trainer computes it. The objectives call what stands below; where the model replaces the engine,
// logits() is called.
struct TrainedHead {
  void (*visit)(OutputHead& head, const ModelForm& form, const Visit& each) = nullptr;
  // From the embeddings to the logits: [B, C] of heads on sequences, else a row for each row or group.
  at::Tensor (*logits)(const Pass& pass, const Model& model, const HeadRequest& request) = nullptr;
};
TrainedHead trained_head(Head head);

// Where the sequences begin, of which each has at least one token.
std::vector<int32_t> first_rows(const Rows& tokens);

// Logits of pooled states, one row for each sequence: [B, C].
at::Tensor sequence_logits(const Pass& pass, const OutputHead& head, const at::Tensor& pooled_BD);

// Hidden states of some rows, and where they stand: [N, C], of a span head [N, 2].
at::Tensor token_logits(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_ND, const Rows& rows);

// z, which the tied output layer reads (ops/cross_entropy.h).
at::Tensor transform_for_words(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_ND);

// [T, 1]: above 0 where a token was replaced.
at::Tensor replaced_logits(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_TD);

}  // namespace deberta::train
