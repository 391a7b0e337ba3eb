// N query rows  D hidden
#include "engine/query_rows.h"

#include <algorithm>

namespace deberta {
namespace {

// Rows of sequence b, ascending: appends to the queries.
class Chooser {
 public:
  Chooser(const Pass& pass, const Workspace& space) : batch_(pass.batch), space_(space) {}
  void begin_sequence(size_t b) { space_.query_starts[b] = static_cast<int32_t>(count_); }
  void add(size_t b, int32_t row) {
    space_.query_rows_N[count_] = row;
    space_.query_positions_N[count_] = row - batch_.starts[b];
    space_.query_table_rows_N[count_] = space_.positions_T[row];
    space_.query_mask_N[count_] = batch_.mask_T.empty() ? uint8_t{1} : batch_.mask_T[as_size(row)];
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
    queries.mask_N = batch.mask_T.empty() ? nullptr : batch.mask_T.data();
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
  queries.starts = space.query_starts;
  queries.positions_N = space.query_positions_N;
  queries.mask_N = space.query_mask_N;
  return queries;
}

void run_layer_for_rows(const Pass& pass, const LayerWeights& layer, const Workspace& space) {
  const size_t hidden = as_size(pass.config.hidden_size);
  const QueryRows queries = choose_queries(pass, space);
  const auto state_D = [&](size_t n) { return space.hidden_TD + as_size(space.query_rows_N[n]) * hidden; };
  for (size_t n = 0; n < queries.states.rows; ++n) std::copy_n(state_D(n), hidden, queries.states.x_TD + n * hidden);
  make_operand(pass, layer.query, queries.states);
  project_keys_values(pass, layer, space);
  query_layer(pass, {.layer = layer}, queries, space);
  for (size_t n = 0; n < queries.states.rows; ++n) std::copy_n(queries.states.x_TD + n * hidden, hidden, state_D(n));
}

}  // namespace deberta
