// The tensors of each head under their published names, and the composition of operations that it computes.
#include "train/model/heads.h"

#include <ATen/TensorOperators.h>

#include <vector>

#include "engine/activation.h"
#include "train/ops/activation.h"
#include "train/ops/dropout.h"

namespace deberta::train {
namespace {

at::Tensor drop(const Pass& pass, RandomDomain domain, double p, const at::Tensor& x_ND, const Rows& rows) {
  return dropout(pass.compute, x_ND, pass.dropout(domain, p, 0), rows);
}

// The number of its sequence for each token.
std::vector<int32_t> sequences_of(const Rows& tokens) {
  std::vector<int32_t> sequences_T(tokens.count());
  for (size_t b = 0; b < tokens.sequences(); ++b) {
    for (size_t t = tokens.begin(b); t < tokens.end(b); ++t) sequences_T[t] = static_cast<int32_t>(b);
  }
  return sequences_T;
}

void visit_language_model(OutputHead& head, const ModelConfig& c, const Visit& each) {
  const std::string prefix = "lm_predictions.lm_head.";
  visit(head.dense, {prefix + "dense", c.hidden_size, c.embedding_size}, each);
  visit(head.norm, prefix + "LayerNorm", c.embedding_size, each);
  each({.name = prefix + "bias", .shape = {c.vocab_size}, .init = Init::kZeros, .is_by_word = true}, head.bias_V);
}

}  // namespace

void visit(OutputHead& head, const ModelForm& form, const Visit& each) {
  const int64_t size = form.config.hidden_size;
  switch (form.head) {
    case Head::kNone:
      return;
    case Head::kSequence:
      if (form.config.classifier_pooling == ClassifierPooling::kAttention)  // begins as the mean
        each({.name = "pooler.attention.weight", .shape = {size}, .init = Init::kZeros}, head.pooling_query_D);
      visit(head.dense, {"pooler.dense", size, size}, each);
      break;
    case Head::kToken:
      break;
    case Head::kTokenOriginal:
      visit(head.dense, {"proj", size, size}, each);
      break;
    case Head::kSpan:
      return visit(head.classifier, {"qa_outputs", size, 2}, each);
    case Head::kMaskedLm:
      return visit_language_model(head, form.config, each);
    case Head::kReplacedToken:
      visit(head.dense, {"mask_predictions.dense", size, size}, each);
      visit(head.norm, "mask_predictions.LayerNorm", size, each);
      return visit(head.classifier, {"mask_predictions.classifier", size, 1}, each);
  }
  visit(head.classifier, {"classifier", size, form.labels}, each);
}

std::vector<int32_t> first_rows(const Rows& tokens) {
  return {tokens.starts.begin(), tokens.starts.end() - 1};
}

at::Tensor sequence_logits(const Pass& pass, const OutputHead& head, const at::Tensor& pooled_BD) {
  const ModelConfig& c = pass.form.config;
  const SharedRows first = choose_rows(*pass.tokens, first_rows(*pass.tokens));
  const at::Tensor dropped_BD = drop(pass, RandomDomain::kPoolerDropout, c.pooler_dropout, pooled_BD, *first);
  at::Tensor x_BD = apply(pass, head.dense, dropped_BD);
  x_BD = activate(pass.compute, x_BD, to_kernel(c.pooler_hidden_act));
  return apply(pass, head.classifier, drop(pass, RandomDomain::kClassifierDropout, c.cls_dropout, x_BD, *first));
}

at::Tensor token_logits(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_ND, const Rows& rows) {
  if (pass.form.head == Head::kSpan) return apply(pass, head.classifier, hidden_ND);
  at::Tensor x_ND = hidden_ND;
  if (pass.form.head == Head::kTokenOriginal) {  // gelu whatever hidden_act says
    x_ND = activate(pass.compute, apply(pass, head.dense, x_ND), KernelActivation::kGelu);
  }
  const double p = pass.form.config.cls_dropout;
  return apply(pass, head.classifier, drop(pass, RandomDomain::kClassifierDropout, p, x_ND, rows));
}

at::Tensor transform_for_words(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_ND) {
  const at::Tensor x_NE = apply(pass, head.dense, hidden_ND);
  return layer_norm(pass.compute, activate(pass.compute, x_NE, to_kernel(pass.form.config.hidden_act)),
                    pass.norm(head.norm));
}

at::Tensor replaced_logits(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_TD) {
  const at::Tensor first_BD = take_rows(hidden_TD, first_rows(*pass.tokens));
  const at::Tensor first_TD = take_rows(first_BD, sequences_of(*pass.tokens));
  const at::Tensor t_TD = layer_norm(pass.compute, first_TD + hidden_TD, pass.norm(head.norm));
  const at::Tensor u_TD = apply(pass, head.dense, t_TD);
  return apply(pass, head.classifier, activate(pass.compute, u_TD, to_kernel(pass.form.config.hidden_act)));
}

}  // namespace deberta::train
