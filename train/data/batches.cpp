// Finds the runs of a step, cuts short ones where asked, masks each sequence, and packs them.
#include "train/data/batches.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/philox.h"
#include "train/ops/random_domains.h"

namespace deberta::train {

Batches::Batches(std::vector<Source> sources, const Pieces& pieces, const BatchOptions& options)
    : options_(options),
      plan_(options.tokens_per_step, options.stages),
      sources_(std::move(sources), options.source_exponent, options.stages, options.seed),
      masker_(pieces, options.masks, options.seed),
      cut_key_(random_key(options.seed, RandomDomain::kCut)) {}

SampleOrigin Batches::origin(uint64_t step, size_t index) {
  const StepSamples samples = plan_.at(step);
  return sources_.find(samples.first_in_stage + index, samples.stage);
}

// One sequence, from row `begin` of the batch.
void Batches::predict(std::span<int32_t> ids, int32_t begin, SequenceNumber number, TrainBatch& batch) const {
  if (options_.prediction == Prediction::kNext) {
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      batch.rows_P.push_back(begin + static_cast<int32_t>(i));
      batch.labels_P.push_back(ids[i + 1]);
    }
    return;
  }
  Predictions predictions;
  masker_.mask(ids, number, predictions);
  for (const int32_t position : predictions.positions) batch.rows_P.push_back(begin + position);
  batch.labels_P.insert(batch.labels_P.end(), predictions.labels.begin(), predictions.labels.end());
}

size_t Batches::most_pieces(uint64_t sample, size_t max_tokens) const {
  constexpr double kOne = 4294967296.0;  // 2^32
  const PhiloxCounter bits = philox({static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32), 0, 0},
                                    {static_cast<uint32_t>(cut_key_), static_cast<uint32_t>(cut_key_ >> 32)});
  const size_t whole = max_tokens - 2;
  if (bits[0] / kOne >= options_.short_share || whole <= kFewestPieces) return whole;
  const double fewest = kFewestPieces;
  return static_cast<size_t>(fewest * std::pow(static_cast<double>(whole) / fewest, bits[1] / kOne));
}

void Batches::append_sample(uint64_t step, size_t index, TrainBatch& batch) {
  const StepSamples samples = plan_.at(step);
  const SampleOrigin from = origin(step, index);
  const size_t before = batch.starts.size();
  sources_.runs(from.source).append(from.run, samples.max_tokens, batch.ids_T, batch.starts);
  if (options_.short_share > 0)
    cut_sequences(most_pieces(samples.first + index, samples.max_tokens), before - 1, batch.ids_T, batch.starts);
  for (size_t end = before; end < batch.starts.size(); ++end) {
    const int32_t begin = batch.starts[end - 1];
    const int32_t tokens = batch.starts[end] - begin;
    const SequenceNumber number{samples.first + index, static_cast<uint32_t>(end - before)};
    predict(std::span(batch.ids_T).subspan(static_cast<size_t>(begin), static_cast<size_t>(tokens)), begin, number,
            batch);
    batch.longest = std::max(batch.longest, tokens);
  }
}

std::vector<TrainBatch> Batches::make(uint64_t step) {
  const StepSamples samples = plan_.at(step);
  const size_t most = std::max<size_t>(1, options_.micro_batch_tokens / samples.max_tokens);
  std::vector<TrainBatch> batches;
  uint32_t sequences = 0;
  for (size_t begin = 0; begin < samples.count; begin += most) {
    TrainBatch& batch = batches.emplace_back();
    batch.first_sequence = sequences;
    batch.starts.push_back(0);
    for (size_t index = begin; index < std::min(begin + most, samples.count); ++index)
      append_sample(step, index, batch);
    sequences += static_cast<uint32_t>(batch.sequences());
  }
  return batches;
}

}  // namespace deberta::train
