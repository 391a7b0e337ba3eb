// One pack: what every sequence of it gets of the model's result.
#include "pipeline/plan.h"

#include <algorithm>
#include <utility>

namespace deberta {
namespace {

bool gives_a_row_per_sequence(const Model& model) {
  return model.head() == Head::kSequence;
}

// Rows of the result that belong to each sequence of the pack, and their width.
struct Rows {
  std::vector<size_t> starts;  // [B + 1]
  std::span<const float> values;
  size_t columns = 0;
};

Rows rows_of(const Model& model, std::span<const PlannedSequence> pack, const Batch& batch,
             const ForwardResult& result) {
  Rows rows{{0}, result.logits, result.logits_columns};
  const SequencePlan& first = *pack.front().plan;
  if (first.layer) {
    rows.values = result.hidden.front().rows_TD;
    rows.columns = rows.values.size() / batch.tokens();
  }
  for (size_t b = 0; b < pack.size(); ++b) {
    const SequencePlan& plan = *pack[b].plan;
    const auto tokens = static_cast<size_t>(batch.starts[b + 1] - batch.starts[b]);
    const size_t count = plan.layer                        ? tokens
                         : !plan.rows.empty()              ? plan.rows[pack[b].sequence].size()
                         : gives_a_row_per_sequence(model) ? 1
                                                           : tokens;
    rows.starts.push_back(rows.starts.back() + count);
  }
  return rows;
}

}  // namespace

void run_pack(const Model& model, std::span<const PlannedSequence> pack, ForwardResult& result) {
  Batch batch;
  ForwardOptions options;
  const SequencePlan& first = *pack.front().plan;
  if (first.layer) {
    options.layers = {*first.layer};
    options.wants_logits = false;
  }
  for (const PlannedSequence& one : pack) {
    const Encoding& sequence = one.plan->sequences[one.sequence];
    if (!one.plan->rows.empty()) {
      for (const size_t row : one.plan->rows[one.sequence])
        options.rows.push_back(static_cast<int32_t>(batch.tokens() + row));
    }
    batch.add(sequence.ids, sequence.type_ids);
  }
  if (!first.rows.empty() && options.rows.empty()) return;
  model.forward(batch, options, result);
  const Rows rows = rows_of(model, pack, batch, result);
  for (size_t b = 0; b < pack.size(); ++b) {
    const size_t begin = rows.starts[b] * rows.columns, end = rows.starts[b + 1] * rows.columns;
    if (end > begin) pack[b].plan->take(pack[b].sequence, rows.values.subspan(begin, end - begin));
  }
}

LogitsPlan plan_logits(const Model& model, Sequences sequences) {
  const auto classes = static_cast<size_t>(model.labels());
  auto found = std::make_shared<SequenceLogits>(SequenceLogits{std::move(sequences), {}});
  found->logits_BC.resize(found->sequences.all.size() * classes);
  SequencePlan plan;
  plan.sequences = found->sequences.all;
  plan.take = [found, classes](size_t sequence, std::span<const float> row_C) {
    std::copy(row_C.begin(), row_C.end(), found->logits_BC.begin() + static_cast<std::ptrdiff_t>(sequence * classes));
  };
  return {std::move(plan), std::move(found)};
}

void run_plan(const Model& model, const SequencePlan& plan, size_t batch_tokens) {
  const size_t most = plan.rows.empty() ? batch_tokens : std::min(batch_tokens, kMaskedPackTokens);
  ForwardResult result;
  std::vector<PlannedSequence> pack;
  size_t tokens = 0;
  const auto flush = [&] {
    if (!pack.empty()) run_pack(model, pack, result);
    pack.clear();
    tokens = 0;
  };
  for (size_t i = 0; i < plan.sequences.size(); ++i) {
    const size_t size = plan.sequences[i].size();
    if (tokens + size > most) flush();
    pack.push_back({&plan, i});
    tokens += size;
  }
  flush();
}

}  // namespace deberta
