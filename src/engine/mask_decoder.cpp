// T packed tokens  N rows to predict  D hidden
#include "engine/mask_decoder.h"

#include "engine/query_rows.h"
#include "kernels/embedding.h"

namespace deberta {
namespace {

// z = position[p] + h: no norm, no mask.
void start_states(const Pass& pass, const QueryRows& queries, const Workspace& space) {
  const bool has_rows = !pass.options.rows.empty();
  const size_t hidden = as_size(pass.config.hidden_size);
  EmbeddingParams p{};
  p.word = pass.weights.position;
  p.ids_T = has_rows ? space.query_table_rows_N : space.positions_T;
  p.tokens = queries.states.rows;
  p.columns = hidden;
  p.x_TE = queries.states.x_TD;
  p.parallel = pass.parallel;
  embedding(pass.kernels, p);
  for (size_t n = 0; n < queries.states.rows; ++n) {
    const float* h_D = space.hidden_TD + (has_rows ? as_size(pass.options.rows[n]) : n) * hidden;
    float* z_D = queries.states.x_TD + n * hidden;
    for (size_t d = 0; d < hidden; ++d) z_D[d] += h_D[d];
  }
}

}  // namespace

void run_mask_decoder(const Pass& pass, const Workspace& space) {
  const LayerWeights& layer = pass.weights.layers.back();
  const QueryRows queries = choose_queries(pass, space);
  start_states(pass, queries, space);
  make_operand(pass, layer.query, queries.states);
  project_keys_values(pass, layer, space);  // of h, for every pass: never of the query states
  for (int64_t left = pass.config.mask_decoder_passes; left > 1; --left)
    query_layer(pass, {.layer = layer, .consumer = &layer.query}, queries, space);
  query_layer(pass, {.layer = layer}, queries, space);
}

}  // namespace deberta
