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
#include "train/loop/hooks.h"
#include "train/loop/pretrain.h"

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

// Steps of a run of settings.length. Throws kUsage, also for batches that cannot be divided as asked.
int64_t count_steps(const PretrainSettings& settings, const Corpora& corpora);

// `corpora` and `pieces` outlive it.
Batches make_batches(const PretrainSettings& settings, const Corpora& corpora, const Pieces& pieces, int64_t steps);

}  // namespace deberta::train
