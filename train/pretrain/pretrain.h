// Language modelling and replaced-token detection from text files: a model folder, or one for each of two models, from
// corpora, a tokenizer and options.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/data/masking.h"
#include "train/objectives/batch.h"
#include "train/pretrain/settings.h"
#include "train/run/hooks.h"
#include "train/run/rate_search.h"
#include "train/run/run.h"

namespace deberta::train {

// Throws what run() and the parts do.
RunResult pretrain(const PretrainSettings& settings, const RunHooks& hooks);

// Steps at many learning rates, of which nothing is kept; nothing once stopped.
std::optional<RateSearch> search_rates(const PretrainSettings& settings, const RunHooks& hooks);

// The fewest micro-batches of a step, at least settings.batches.accumulation, that memory has room for; nothing once
// stopped.
std::optional<size_t> find_accumulation(const PretrainSettings& settings, const RunHooks& hooks);

// What a run reads of one corpus.
struct CorpusPart {
  double share = 0;  // share of the samples
  uint64_t tokens = 0, documents = 0;
};

// What the first step would train on, without training.
struct DryRun {
  int64_t total_steps = 0;
  std::vector<CorpusPart> corpora = {};
  MaskOptions masks = {};  // as the objective has them
  int64_t parameters = 0;
  std::vector<std::string> notes = {};   // notes about the vocabulary and the weights
  std::vector<TrainBatch> batches = {};  // batches of the first step
};
std::optional<DryRun> dry_run(const PretrainSettings& settings, const RunHooks& hooks);  // nothing once stopped

}  // namespace deberta::train
