// The batches of a run of pre-training: the tokens of its corpora, cut into steps and made ahead of their use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "deberta/tokenizer.h"
#include "train/data/batches.h"
#include "train/data/pieces.h"
#include "train/data/prefetch.h"
#include "train/pretrain/corpora.h"
#include "train/pretrain/settings.h"
#include "train/run/hooks.h"

namespace deberta::train {

// As the objective has them.
MaskOptions masks_of(const BatchSettings& settings, Objective objective);

class BatchStream {
 public:
  // Nothing once stopped. Throws what open_corpora() does, and kUsage for a length of the run or a division of its
  // steps that cannot be.
  static std::unique_ptr<BatchStream> open(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                           const Parallel& parallel, const RunHooks& hooks);
  BatchStream(const PretrainSettings& settings, Corpora corpora, Pieces pieces);
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  const Corpora& corpora() const { return corpora_; }
  int64_t total_steps() const { return total_steps_; }
  double share(size_t corpus) const { return batches_.sources().share(corpus); }  // share of the samples

  // The micro-batches of `step`, and then of each that follows.
  void begin(int64_t step);
  std::vector<TrainBatch> next();

 private:
  Corpora corpora_;
  Pieces pieces_;
  int64_t total_steps_ = 0;
  Batches batches_;
  size_t prefetch_ = 0;
  std::optional<Prefetch> ahead_;
};

}  // namespace deberta::train
