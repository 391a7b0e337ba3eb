// Embeddings (model.md#embeddings):
//   h_0 = dropout( LN( embed_proj(word[id] + type[type id] + position[p]) ) * mask )
// Types where the model has them, positions with position_biased_input; embed_proj where E != D.
// T packed tokens  D hidden  E embedding size  V vocabulary  P absolute positions  Y token types
#pragma once
#include "train/model/pass.h"

namespace deberta::train {

struct Embeddings {
  at::Tensor word_VE;
  at::Tensor position_PE;  // also read by the mask decoder
  at::Tensor type_YE;
  at::Tensor embed_proj_DE;
  Norm norm;
};
void visit(Embeddings& embeddings, const ModelForm& form, const Visit& each);

// What the norm reads: adversarial training changes it (objectives/perturbation.h).
at::Tensor sum_embeddings(const Pass& pass, const Embeddings& embeddings);
// h_0 of such a sum.
at::Tensor norm_embeddings(const Pass& pass, const Embeddings& embeddings, const at::Tensor& sum_TD);

inline at::Tensor embed(const Pass& pass, const Embeddings& embeddings) {
  return norm_embeddings(pass, embeddings, sum_embeddings(pass, embeddings));
}

}  // namespace deberta::train
