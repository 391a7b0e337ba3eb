// The corpora of a run: read once, kept as tokens, cut into batches.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "deberta/tokenizer.h"
#include "train/data/batches.h"
#include "train/data/pieces.h"
#include "train/data/prefetch.h"
#include "train/run/hooks.h"
#include "train/pretrain/pretrain.h"

namespace deberta::train {

struct Corpora {
  std::vector<TokenFile> files;       // of settings.corpora, one each
  std::vector<std::string> held_out;  // paths of corpora
  uint64_t tokens = 0;
  uint64_t documents = 0;

  std::string hash() const;  // of all that the tokens were made from
};

// From the cache, or tokenised now. Nothing once stopped.
std::optional<Corpora> open_corpora(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                    const Parallel& parallel, const RunHooks& hooks);

// As the objective has them.
MaskOptions masks_of(const PretrainSettings& settings);

// What each corpus is called, without its folder, and how much it holds.
Details details_of(const PretrainSettings& settings, const Corpora& corpora);

// Steps of a run of settings.length. Throws kUsage, also for batches that cannot be divided as asked.
int64_t count_steps(const PretrainSettings& settings, const Corpora& corpora);

// `corpora` and `pieces` outlive it.
Batches make_batches(const PretrainSettings& settings, const Corpora& corpora, const Pieces& pieces, int64_t steps);

// The batches of a run, made ahead of their use.
class BatchStream {
 public:
  // Nothing once stopped. Throws what open_corpora() and count_steps() do.
  static std::unique_ptr<BatchStream> open(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                           const Parallel& parallel, const RunHooks& hooks);
  BatchStream(const PretrainSettings& settings, Corpora corpora, Pieces pieces);
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  const Corpora& corpora() const { return corpora_; }
  int64_t total_steps() const { return total_steps_; }
  double share(size_t corpus) const { return batches_.sources().share(corpus); }  // of the samples

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
