// Keeps only the middle rows of the table, as many as the longest sequence of the pass can reach.
#include "train/model/relative_position.h"

#include "config/extraction_config.h"
#include "train/ops/dropout.h"

namespace deberta::train {

void visit(RelativePosition& r, const ModelForm& form, const Visit& each) {
  const ModelConfig& c = form.config;
  if (!c.relative_attention) return;
  const Init init = c.has_fixed_distances ? Init::kSinusoids : Init::kNormal;
  each({"encoder.rel_embeddings.weight", {2 * c.span(), c.hidden_size}, init, !c.has_fixed_distances},
       r.rel_embeddings_RD);
  if (c.has_rel_layer_norm) visit(r.norm, "encoder.LayerNorm", c.hidden_size, each);
}

at::Tensor relative_table(const Pass& pass, const RelativePosition& r) {
  if (!r.norm.weight_D.defined()) return r.rel_embeddings_RD;
  return layer_norm(pass.compute, r.rel_embeddings_RD, pass.norm(r.norm));
}

at::Tensor drop_relative(const Pass& pass, const at::Tensor& table_RD, size_t layer) {
  const Dropout drop = pass.dropout(RandomDomain::kRelativeDropout, pass.form.config.hidden_dropout_prob, layer);
  const at::Tensor dropped_RD =
      dropout(pass.compute, table_RD, drop);  // belongs to no sequence: one draw for all of a step
  const int64_t rows = pass.lut->rows();
  return dropped_RD.narrow(0, (table_RD.size(0) - rows) / 2, rows);
}

std::shared_ptr<const RelLut> make_lut(const ModelConfig& c, int64_t longest) {
  if (!c.relative_attention) return nullptr;
  RelLutParams params{.position_buckets = c.position_buckets,
                      .max_relative_positions = c.max_relative_positions,
                      .clamps_distance = distance_rule(c, DistanceRule::kOriginal) == DistanceRule::kOriginal,
                      .max_length = longest};
  params.kept_rows = reached_rows(params, longest);
  return std::make_shared<RelLut>(params);
}

}  // namespace deberta::train
