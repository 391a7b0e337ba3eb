// N query rows  D hidden
#include "engine/query_rows.h"

#include "kernels/row_moves.h"

namespace deberta {
namespace {

// Rows of sequence b, ascending: appends to the queries.
class Chooser {
 public:
  Chooser(const Pass& pass, const Workspace& space) : batch_(pass.batch), space_(space) {}
  void begin_sequence(size_t b) { space_.query_starts[b] = static_cast<int32_t>(count_); }
  void add(size_t b, int32_t row) {
    space_.query_rows_N.host[count_] = row;
    space_.query_positions_N.host[count_] = row - batch_.starts[b];
    space_.query_table_rows_N.host[count_] = space_.host_positions_T[row];
    space_.query_mask_N.host[count_] = batch_.mask_T.empty() ? uint8_t{1} : batch_.mask_T[as_size(row)];
    ++count_;
  }
  size_t count() const { return count_; }

 private:
  const Batch& batch_;
  const Workspace& space_;
  size_t count_ = 0;
};

}  // namespace

bool reads_some_rows(const Pass& pass) {
  if (!pass.options.wants_logits) return false;
  const HeadFacts& head = *pass.head.facts;
  if (head.is_per_sequence()) return pass.config.classifier_pooling == ClassifierPooling::kFirst;
  return !pass.options.rows.empty() && head.reads == HeadReads::kTokens;
}

size_t chosen_rows_bound(const Pass& pass) {
  return pass.head.facts->is_per_sequence() ? pass.batch.sequences() : pass.options.rows.size();
}

QueryRows choose_queries(const Pass& pass, const Workspace& space) {
  const Batch& batch = pass.batch;
  QueryRows queries{.states = {.x_TD = space.head_rows_ND, .operand = space.head_operand}};
  if (!reads_some_rows(pass)) {
    queries.states.rows = batch.tokens();
    queries.mask_N = space.mask_T;
    return queries;
  }
  Chooser chooser(pass, space);
  const std::vector<int32_t>& rows = pass.options.rows;
  size_t n = 0;
  for (size_t b = 0; b < batch.sequences(); ++b) {
    chooser.begin_sequence(b);
    if (pass.head.facts->is_per_sequence()) {
      if (batch.starts[b] < batch.starts[b + 1]) chooser.add(b, batch.starts[b]);
      continue;
    }
    for (; n < rows.size() && rows[n] < batch.starts[b + 1]; ++n) chooser.add(b, rows[n]);
  }
  chooser.begin_sequence(batch.sequences());
  queries.states.rows = chooser.count();
  upload(pass, space.query_rows_N, chooser.count());
  upload(pass, space.query_positions_N, chooser.count());
  upload(pass, space.query_table_rows_N, chooser.count());
  upload(pass, space.query_mask_N, chooser.count());
  queries.starts = space.query_starts;
  queries.positions_N = space.query_positions_N.device;
  queries.mask_N = space.query_mask_N.device;
  return queries;
}

void run_layer_for_rows(const Pass& pass, const LayerWeights& layer, const Workspace& space) {
  const QueryRows queries = choose_queries(pass, space);
  RowMoveParams move{.x = space.hidden_TD,
                     .rows_N = space.query_rows_N.device,
                     .rows = queries.states.rows,
                     .columns = as_size(pass.config.hidden_size),
                     .y = queries.states.x_TD,
                     .parallel = pass.parallel};
  gather_rows(pass.kernels, move);
  make_operand(pass, layer.query, queries.states);
  project_keys_values(pass, layer, space);
  query_layer(pass, {.layer = layer}, queries, space);
  move.x = queries.states.x_TD;
  move.y = space.hidden_TD;
  scatter_rows(pass.kernels, move);
}

}  // namespace deberta
