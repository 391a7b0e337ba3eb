// The sum of the tables is apart from norm, mask and dropout, so that adversarial training can change it.
#include "train/model/embeddings.h"

#include <ATen/TensorOperators.h>

#include "train/ops/dropout.h"
#include "train/ops/embedding.h"
#include "train/ops/linear.h"

namespace deberta::train {

void visit(Embeddings& e, const ModelForm& form, const Visit& each) {
  const ModelConfig& c = form.config;
  const std::string prefix = "embeddings.";
  each({.name = prefix + "word_embeddings.weight",
        .shape = {c.vocab_size, c.embedding_size},
        .init = Init::kTable,
        .is_by_word = true},
       e.word_VE);
  if (form.reads_positions()) {
    each({prefix + "position_embeddings.weight", {c.max_position_embeddings, c.embedding_size}}, e.position_PE);
  }
  if (c.type_vocab_size > 0) {
    each({prefix + "token_type_embeddings.weight", {c.type_vocab_size, c.embedding_size}}, e.type_YE);
  }
  if (c.embedding_size != c.hidden_size) {
    each({prefix + "embed_proj.weight", {c.hidden_size, c.embedding_size}}, e.embed_proj_DE);
  }
  visit(e.norm, prefix + "LayerNorm", c.hidden_size, each);
}

at::Tensor sum_embeddings(const Pass& pass, const Embeddings& e) {
  const ModelConfig& c = pass.form.config;
  // The padding id's row gets no gradient through the lookup; the tied output layer of a language model gives it one.
  at::Tensor x = embedding(pass.compute, e.word_VE, pass.ids_T, c.pad_token_id);
  if (e.type_YE.defined()) x = x + embedding(pass.compute, e.type_YE, pass.type_ids_T);
  if (c.position_biased_input) x = x + embedding(pass.compute, e.position_PE, pass.position_ids_T);
  return e.embed_proj_DE.defined() ? linear(pass.compute, x, e.embed_proj_DE, {}) : x;
}

at::Tensor norm_embeddings(const Pass& pass, const Embeddings& e, const at::Tensor& sum_TD) {
  const at::Tensor x_TD = mask_rows(pass.compute, layer_norm(pass.compute, sum_TD, pass.norm(e.norm)), *pass.tokens);
  const Dropout drop = pass.dropout(RandomDomain::kEmbeddingDropout, pass.form.config.hidden_dropout_prob, 0);
  return dropout(pass.compute, x_TD, drop, *pass.tokens);
}

}  // namespace deberta::train
