// T packed tokens  N rows to predict  D hidden
#include "engine/mask_decoder.h"

#include "engine/query_rows.h"
#include "engine/score_collector.h"
#include "kernels/embedding.h"
#include "kernels/row_moves.h"

namespace deberta {
namespace {

// z = position[p] + h: no norm, no mask.
void start_states(const Pass& pass, const QueryRows& queries, const Workspace& space) {
  EmbeddingParams p{};
  p.word = pass.weights.position;
  p.ids_T = pass.options.rows.empty() ? space.positions_T : space.query_table_rows_N.device;
  p.tokens = queries.states.rows;
  p.columns = as_size(pass.config.hidden_size);
  p.x_TE = queries.states.x_TD;
  p.parallel = pass.parallel;
  embedding(pass.kernels, p);
  add_rows(pass.kernels, {.x = space.hidden_TD,
                          .rows_N = space.rows_N,
                          .rows = queries.states.rows,
                          .columns = p.columns,
                          .y = queries.states.x_TD,
                          .parallel = pass.parallel});
}

// Pass `number` of the last layer, whose states `consumer` reads next.
void run_pass(const Pass& pass, const Linear* consumer, const QueryRows& queries, int64_t number,
              const Workspace& space, ForwardResult& result) {
  const LayerWeights& layer = pass.weights.layers.back();
  ScoreCollector scores(pass, layer, pass.options.wants_decoder_scores);
  query_layer(pass, {.layer = layer, .consumer = consumer, .scores = scores.outputs()}, queries, space);
  scores.append_to(result.decoder_scores, as_size(number));
}

}  // namespace

void run_mask_decoder(const Pass& pass, const Workspace& space, ForwardResult& result) {
  const LayerWeights& layer = pass.weights.layers.back();
  const QueryRows queries = choose_queries(pass, space);
  start_states(pass, queries, space);
  make_operand(pass, layer.query, queries.states);
  project_keys_values(pass, layer, space);  // from h, for every pass: never from the query states
  const int64_t last = pass.config.mask_decoder_passes;
  for (int64_t number = 1; number < last; ++number) run_pass(pass, &layer.query, queries, number, space, result);
  run_pass(pass, nullptr, queries, last, space, result);
}

}  // namespace deberta
