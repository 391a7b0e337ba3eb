// T packed tokens  N rows to predict  D hidden
#include "engine/mask_decoder.h"

#include "engine/layer.h"
#include "engine/output_heads.h"
#include "kernels/embedding.h"

namespace deberta {
namespace {

// The rows asked for, by sequence and position within it.
QueryRows choose_queries(const Pass& pass, const Workspace& space) {
  const Batch& batch = pass.batch;
  const uint8_t* mask_T = batch.mask_T.empty() ? nullptr : batch.mask_T.data();
  QueryRows queries{.x_ND = space.head_rows_ND, .rows = head_rows(pass)};
  if (pass.options.rows.empty()) {
    queries.mask_N = mask_T;
    return queries;
  }
  size_t n = 0;
  for (size_t b = 0; b < batch.sequences(); ++b) {
    space.query_starts[b] = static_cast<int32_t>(n);
    for (; n < queries.rows && pass.options.rows[n] < batch.starts[b + 1]; ++n) {
      const int32_t row = pass.options.rows[n];
      space.query_positions_N[n] = row - batch.starts[b];
      space.query_table_rows_N[n] = space.positions_T[row];
      space.query_mask_N[n] = mask_T != nullptr ? mask_T[row] : 1;
    }
  }
  space.query_starts[batch.sequences()] = static_cast<int32_t>(n);
  queries.starts = space.query_starts;
  queries.positions_N = space.query_positions_N;
  queries.mask_N = space.query_mask_N;
  return queries;
}

// z = position[p] + h: no norm, no mask.
void start_states(const Pass& pass, const QueryRows& queries, const Workspace& space) {
  const bool has_rows = !pass.options.rows.empty();
  const size_t hidden = as_size(pass.config.hidden_size);
  EmbeddingParams p{};
  p.word = pass.weights.position;
  p.ids_T = has_rows ? space.query_table_rows_N : space.positions_T;
  p.tokens = queries.rows;
  p.columns = hidden;
  p.x_TE = queries.x_ND;
  p.parallel = pass.parallel;
  embedding(pass.kernels, p);
  for (size_t n = 0; n < queries.rows; ++n) {
    const float* h_D = space.hidden_TD + (has_rows ? as_size(pass.options.rows[n]) : n) * hidden;
    float* z_D = queries.x_ND + n * hidden;
    for (size_t d = 0; d < hidden; ++d) z_D[d] += h_D[d];
  }
}

}  // namespace

void run_mask_decoder(const Pass& pass, const Workspace& space) {
  const LayerWeights& layer = pass.weights.layers.back();
  const QueryRows queries = choose_queries(pass, space);
  start_states(pass, queries, space);
  project_keys_values(pass, layer, space);  // of h, for both passes: never of the query states
  query_layer(pass, layer, queries, space);
  query_layer(pass, layer, queries, space);
}

}  // namespace deberta
