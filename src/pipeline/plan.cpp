// One pack: what is requested for each of its sequences, and which part of the model's result each gets.
#include "pipeline/plan.h"

#include <algorithm>
#include <utility>

#include "heads/head_facts.h"
#include "pipeline/packer.h"

namespace deberta {
namespace {

constexpr uint64_t kPlainKind = 0, kRowsKind = 1, kGroupsKind = 2, kEntitiesKind = 3, kFirstLayerKind = 4;

// Rows that are counted from `first` on.
std::vector<int32_t> shifted(std::span<const int32_t> rows, size_t first) {
  std::vector<int32_t> all(rows.begin(), rows.end());
  for (int32_t& row : all) row += static_cast<int32_t>(first);
  return all;
}

// Requests the values of the sequence that the pack gets next. Returns how many rows of the result they take.
size_t ask_for(const PlannedSequence& planned, const Model& model, const Batch& batch, ForwardOptions& options) {
  const SequencePlan& plan = *planned.plan;
  const size_t tokens = plan.sequences.tokens()[planned.sequence];
  if (plan.layer) return tokens;
  if (plan.rows) {
    const std::span<const size_t> rows = plan.rows(planned.sequence);
    for (const size_t row : rows) options.rows.push_back(static_cast<int32_t>(batch.tokens() + row));
    return rows.size();
  }
  if (plan.groups) {
    const std::span<const std::vector<int32_t>> groups = plan.groups(planned.sequence);
    for (const std::vector<int32_t>& group_tokens : groups) {
      TokenGroup& group = options.groups.emplace_back(TokenGroup{static_cast<int32_t>(batch.sequences()), {}});
      for (const int32_t token : group_tokens) group.rows.push_back(static_cast<int32_t>(batch.tokens()) + token);
    }
    return groups.size();
  }
  if (plan.entities) {
    const EntityRequest& request = plan.entities(planned.sequence);
    options.entities.push_back({shifted(request.words.labels, batch.tokens()),
                                shifted(request.words.pieces, batch.tokens()), request.words.word_starts});
    return request.rows;
  }
  return facts_of(model.head()).is_per_sequence() ? 1 : tokens;
}

// Gives each sequence its values. counts[b]: rows of sequence b.
void take_values(std::span<const PlannedSequence> pack, const std::vector<size_t>& counts,
                 std::span<const float> values, size_t columns) {
  size_t begin = 0;
  for (size_t b = 0; b < pack.size(); ++b) {
    const size_t size = counts[b] * columns;
    if (size > 0) pack[b].plan->take(pack[b].sequence, values.subspan(begin, size));
    begin += size;
  }
}

}  // namespace

SequenceSource::SequenceSource(std::span<const Encoding> encodings) : encodings_(encodings) {
  tokens_.reserve(encodings.size());
  for (const Encoding& encoding : encodings) tokens_.push_back(encoding.size());
}

SequenceSource::SequenceSource(std::span<const Encoding> encodings, std::vector<size_t> tokens, Add add)
    : encodings_(encodings), tokens_(std::move(tokens)), add_(std::move(add)) {}

void SequenceSource::add(size_t sequence, Batch& pack) const {
  if (add_) return add_(sequence, pack);
  pack.add(encodings_[sequence].ids, encodings_[sequence].type_ids);
}

uint64_t kind_of(const SequencePlan& plan) {
  if (plan.layer) return kFirstLayerKind + static_cast<uint64_t>(*plan.layer);
  if (plan.rows) return kRowsKind;
  if (plan.entities) return kEntitiesKind;
  return plan.groups ? kGroupsKind : kPlainKind;
}

namespace {

void run_together(const Model& model, std::span<const PlannedSequence> pack, ForwardResult& result) {
  Batch batch;
  ForwardOptions options;
  std::vector<size_t> counts;
  const SequencePlan& first = *pack.front().plan;
  if (first.layer) {
    options.layers = {*first.layer};
    options.wants_logits = false;
  }
  for (const PlannedSequence& planned : pack) {
    counts.push_back(ask_for(planned, model, batch, options));
    planned.plan->sequences.add(planned.sequence, batch);
  }
  if (first.rows && options.rows.empty()) return;
  if (first.groups && options.groups.empty()) return;
  model.forward(batch, options, result);
  if (!first.layer) return take_values(pack, counts, result.logits, result.logits_columns);
  const std::vector<float>& rows_TD = result.hidden.front().rows_TD;
  take_values(pack, counts, rows_TD, rows_TD.size() / batch.tokens());
}

}  // namespace

void run_pack(const Model& model, std::span<const PlannedSequence> pack, ForwardResult& result) {
  while (!pack.empty()) {
    size_t most = SIZE_MAX, count = 0;
    while (count < pack.size() && count < (most = std::min(most, pack[count].plan->most_in_pack))) ++count;
    run_together(model, pack.first(count), result);
    pack = pack.subspan(count);
  }
}

LogitsPlan plan_logits(const Model& model, Sequences sequences) {
  const auto classes = static_cast<size_t>(model.labels());
  auto results = std::make_shared<SequenceLogits>(SequenceLogits{std::move(sequences), {}});
  results->logits_BC.resize(results->sequences.all.size() * classes);
  SequencePlan plan;
  plan.sequences = SequenceSource(results->sequences.all);
  plan.take = [results, classes](size_t sequence, std::span<const float> row_C) {
    std::copy(row_C.begin(), row_C.end(), results->logits_BC.begin() + static_cast<std::ptrdiff_t>(sequence * classes));
  };
  return {std::move(plan), std::move(results)};
}

void run_plan(const Model& model, const SequencePlan& plan, size_t batch_tokens) {
  const size_t tokens = plan.rows ? std::min(batch_tokens, kMaskedPackTokens) : batch_tokens;
  Packer packer(plan.sequences.tokens(), {.tokens = tokens, .sequences = plan.most_in_pack});
  ForwardResult result;
  for (std::span<const size_t> numbers = packer.next(); !numbers.empty(); numbers = packer.next()) {
    std::vector<PlannedSequence> pack;
    for (const size_t sequence : numbers) pack.push_back({&plan, sequence});
    run_pack(model, pack, result);
  }
}

}  // namespace deberta
