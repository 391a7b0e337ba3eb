// One pack: what is asked for each of its sequences, and what each gets of the model's result.
#include "pipeline/plan.h"

#include <algorithm>
#include <utility>

#include "heads/head_facts.h"
#include "pipeline/packer.h"

namespace deberta {
namespace {

constexpr uint64_t kPlainKind = 0, kRowsKind = 1, kGroupsKind = 2, kFirstLayerKind = 3;

// Asks for the values of a sequence that the pack gets next. Returns how many rows of the result they are.
size_t ask_for(const PlannedSequence& one, const Model& model, const Batch& batch, ForwardOptions& options) {
  const SequencePlan& plan = *one.plan;
  const size_t tokens = plan.sequences.tokens()[one.sequence];
  if (plan.layer) return tokens;
  if (plan.rows) {
    const std::span<const size_t> rows = plan.rows(one.sequence);
    for (const size_t row : rows) options.rows.push_back(static_cast<int32_t>(batch.tokens() + row));
    return rows.size();
  }
  if (plan.groups) {
    const std::span<const std::vector<int32_t>> groups = plan.groups(one.sequence);
    for (const std::vector<int32_t>& tokens_of_one : groups) {
      TokenGroup& group = options.groups.emplace_back(TokenGroup{static_cast<int32_t>(batch.sequences()), {}});
      for (const int32_t token : tokens_of_one) group.rows.push_back(static_cast<int32_t>(batch.tokens()) + token);
    }
    return groups.size();
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
  return plan.groups ? kGroupsKind : kPlainKind;
}

void run_pack(const Model& model, std::span<const PlannedSequence> pack, ForwardResult& result) {
  Batch batch;
  ForwardOptions options;
  std::vector<size_t> counts;
  const SequencePlan& first = *pack.front().plan;
  if (first.layer) {
    options.layers = {*first.layer};
    options.wants_logits = false;
  }
  for (const PlannedSequence& one : pack) {
    counts.push_back(ask_for(one, model, batch, options));
    one.plan->sequences.add(one.sequence, batch);
  }
  if (first.rows && options.rows.empty()) return;
  if (first.groups && options.groups.empty()) return;
  model.forward(batch, options, result);
  if (!first.layer) return take_values(pack, counts, result.logits, result.logits_columns);
  const std::vector<float>& rows_TD = result.hidden.front().rows_TD;
  take_values(pack, counts, rows_TD, rows_TD.size() / batch.tokens());
}

LogitsPlan plan_logits(const Model& model, Sequences sequences) {
  const auto classes = static_cast<size_t>(model.labels());
  auto found = std::make_shared<SequenceLogits>(SequenceLogits{std::move(sequences), {}});
  found->logits_BC.resize(found->sequences.all.size() * classes);
  SequencePlan plan;
  plan.sequences = SequenceSource(found->sequences.all);
  plan.take = [found, classes](size_t sequence, std::span<const float> row_C) {
    std::copy(row_C.begin(), row_C.end(), found->logits_BC.begin() + static_cast<std::ptrdiff_t>(sequence * classes));
  };
  return {std::move(plan), std::move(found)};
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
