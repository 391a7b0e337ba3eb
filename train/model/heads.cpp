// The tensors of each head under their published names, and the composition of operations that it computes.
#include "train/model/heads.h"

#include <ATen/TensorOperators.h>

#include <vector>

#include "deberta/error.h"
#include "heads/kernel_names.h"
#include "train/model/model.h"
#include "train/ops/activation.h"
#include "train/ops/dropout.h"
#include "train/ops/linear.h"

namespace deberta::train {
namespace {

at::Tensor drop(const Pass& pass, RandomDomain domain, double p, const at::Tensor& x_ND, const Rows& rows) {
  return dropout(pass.compute, x_ND, pass.dropout(domain, p, 0), rows);
}

KernelActivation inner_activation(const Pass& pass) {
  return to_kernel(facts_of(pass.form.head).activation(pass.form.config));
}

// The number of its sequence for each token.
std::vector<int32_t> sequences_of(const Rows& tokens) {
  std::vector<int32_t> sequences_T(tokens.count());
  for (size_t b = 0; b < tokens.sequences(); ++b) {
    for (size_t t = tokens.begin(b); t < tokens.end(b); ++t) sequences_T[t] = static_cast<int32_t>(b);
  }
  return sequences_T;
}

// ---- no head

void visit_nothing(OutputHead&, const ModelForm&, const Visit&) {}

at::Tensor logits_of_nothing(const Pass&, const Model&, const HeadRequest&) {
  throw Error(ErrorCode::kInternal, "head", "expected one that gives logits, got none");
}

// ---- sequences

void visit_classifier(OutputHead& head, const ModelForm& form, const Visit& each) {
  visit(head.classifier, {"classifier", form.config.hidden_size, form.labels}, each);
}

void visit_sequence_head(OutputHead& head, const ModelForm& form, const Visit& each) {
  const int64_t size = form.config.hidden_size;
  if (form.config.classifier_pooling == ClassifierPooling::kAttention)  // begins as the mean
    each({.name = "pooler.attention.weight", .shape = {size}, .init = Init::kZeros}, head.pooling_query_D);
  visit(head.dense, {"pooler.dense", size, size}, each);
  visit_classifier(head, form, each);
}

at::Tensor logits_of_sequences(const Pass& pass, const Model& model, const HeadRequest&) {
  return sequence_logits(pass, model.head, pooled_states(pass, model, sum_embeddings(pass, model.embeddings)));
}

// ---- tokens, spans

void visit_original_token_head(OutputHead& head, const ModelForm& form, const Visit& each) {
  visit(head.dense, {"proj", form.config.hidden_size, form.config.hidden_size}, each);
  visit_classifier(head, form, each);
}

void visit_span_head(OutputHead& head, const ModelForm& form, const Visit& each) {
  visit(head.classifier, {"qa_outputs", form.config.hidden_size, 2}, each);
}

at::Tensor logits_of_tokens(const Pass& pass, const Model& model, const HeadRequest& request) {
  const at::Tensor sum_TD = sum_embeddings(pass, model.embeddings);
  return token_logits(pass, model.head, encode_rows(pass, model, sum_TD, request.rows_N),
                      *choose_rows(*pass.tokens, request.rows_N));
}

// ---- words

void visit_language_head(OutputHead& head, const ModelForm& form, const Visit& each) {
  const ModelConfig& c = form.config;
  const std::string prefix = "lm_predictions.lm_head.";
  visit(head.dense, {prefix + "dense", c.hidden_size, c.embedding_size}, each);
  visit(head.norm, prefix + "LayerNorm", c.embedding_size, each);
  each({.name = prefix + "bias", .shape = {c.vocab_size}, .init = Init::kZeros, .is_by_word = true}, head.bias_V);
}

at::Tensor logits_of_words(const Pass& pass, const Model& model, const HeadRequest& request) {
  return linear(pass.compute, word_states(pass, model, request.rows_N), model.embeddings.word_VE, model.head.bias_V);
}

// ---- replaced tokens

void visit_replaced_token_head(OutputHead& head, const ModelForm& form, const Visit& each) {
  const int64_t size = form.config.hidden_size;
  visit(head.dense, {"mask_predictions.dense", size, size}, each);
  visit(head.norm, "mask_predictions.LayerNorm", size, each);
  visit(head.classifier, {"mask_predictions.classifier", size, 1}, each);
}

at::Tensor logits_of_replaced_tokens(const Pass& pass, const Model& model, const HeadRequest& request) {
  const EncoderStates states = encode(pass, model, sum_embeddings(pass, model.embeddings));
  return take_rows(replaced_logits(pass, model.head, states.hidden_TD.back()), request.rows_N);
}

// ---- entities

void visit_entity_head(OutputHead& head, const ModelForm& form, const Visit& each) {
  visit(head.entities, form, each);
}

at::Tensor logits_of_entities(const Pass& pass, const Model& model, const HeadRequest& request) {
  const EncoderStates states = encode(pass, model, sum_embeddings(pass, model.embeddings));
  return entity_logits(pass, model.head.entities, states.hidden_TD.back(), request.entities);
}

}  // namespace

TrainedHead trained_head(Head head) {
  switch (head) {  // without default: a head that nothing trains does not compile
    case Head::kNone:
      return {visit_nothing, logits_of_nothing};
    case Head::kSequence:
      return {visit_sequence_head, logits_of_sequences};
    case Head::kToken:
      return {visit_classifier, logits_of_tokens};
    case Head::kTokenOriginal:
      return {visit_original_token_head, logits_of_tokens};
    case Head::kSpan:
      return {visit_span_head, logits_of_tokens};
    case Head::kMaskedLm:
      return {visit_language_head, logits_of_words};
    case Head::kReplacedToken:
      return {visit_replaced_token_head, logits_of_replaced_tokens};
    case Head::kEntitySpans:
    case Head::kEntityWords:
      return {visit_entity_head, logits_of_entities};
  }
  throw Error(ErrorCode::kInternal, "head", "expected one of the table");
}

void visit(OutputHead& head, const ModelForm& form, const Visit& each) {
  trained_head(form.head).visit(head, form, each);
}

std::vector<int32_t> first_rows(const Rows& tokens) {
  return {tokens.starts.begin(), tokens.starts.end() - 1};
}

at::Tensor sequence_logits(const Pass& pass, const OutputHead& head, const at::Tensor& pooled_BD) {
  const ModelConfig& c = pass.form.config;
  const SharedRows first = choose_rows(*pass.tokens, first_rows(*pass.tokens));
  const at::Tensor dropped_BD = drop(pass, RandomDomain::kPoolerDropout, c.pooler_dropout, pooled_BD, *first);
  at::Tensor x_BD = apply(pass, head.dense, dropped_BD);
  x_BD = activate(pass.compute, x_BD, inner_activation(pass));
  return apply(pass, head.classifier, drop(pass, RandomDomain::kClassifierDropout, c.cls_dropout, x_BD, *first));
}

at::Tensor token_logits(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_ND, const Rows& rows) {
  const HeadFacts& facts = facts_of(pass.form.head);
  at::Tensor x_ND = hidden_ND;
  if (facts.inner != HeadInner::kNone)
    x_ND = activate(pass.compute, apply(pass, head.dense, x_ND), inner_activation(pass));
  if (!facts.has_classes()) return apply(pass, head.classifier, x_ND);
  const double p = pass.form.config.cls_dropout;
  return apply(pass, head.classifier, drop(pass, RandomDomain::kClassifierDropout, p, x_ND, rows));
}

at::Tensor transform_for_words(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_ND) {
  const at::Tensor x_NE = apply(pass, head.dense, hidden_ND);
  return layer_norm(pass.compute, activate(pass.compute, x_NE, inner_activation(pass)), pass.norm(head.norm));
}

at::Tensor replaced_logits(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_TD) {
  const at::Tensor first_BD = take_rows(hidden_TD, first_rows(*pass.tokens));
  const at::Tensor first_TD = take_rows(first_BD, sequences_of(*pass.tokens));
  const at::Tensor t_TD = layer_norm(pass.compute, first_TD + hidden_TD, pass.norm(head.norm));
  const at::Tensor u_TD = apply(pass, head.dense, t_TD);
  return apply(pass, head.classifier, activate(pass.compute, u_TD, inner_activation(pass)));
}

}  // namespace deberta::train
