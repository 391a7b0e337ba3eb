// The table of relative positions (model.md#disentangled-attention):
//   P' = LN(P)         once for each pass
//   P~ = dropout(P')   anew for each layer that is computed
// R relative rows  D hidden
#pragma once
#include "train/model/pass.h"

namespace deberta::train {

struct RelativePosition {
  at::Tensor rel_embeddings_RD;
  Norm norm;  // norm_rel_ebd
};
void visit(RelativePosition& relative, const ModelForm& form, const Visit& each);

// P'; undefined without relative attention.
at::Tensor relative_table(const Pass& pass, const RelativePosition& relative);

// P~ of one layer, of the rows that the sequences of the pass reach (pass.lut): few where sequences are short.
at::Tensor drop_relative(const Pass& pass, const at::Tensor& table_RD, size_t layer);

// Rows by distance, of the rows that sequences of up to `longest` tokens reach; null without relative attention.
std::shared_ptr<const RelLut> make_lut(const ModelConfig& config, int64_t longest);

}  // namespace deberta::train
