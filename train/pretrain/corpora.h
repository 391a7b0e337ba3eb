// The corpora of a run: read once, and kept as tokens.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "deberta/tokenizer.h"
#include "train/data/token_file.h"
#include "train/pretrain/settings.h"
#include "train/run/hooks.h"

namespace deberta::train {

struct Corpora {
  std::vector<TokenFile> files;       // one for each of settings.corpora
  std::vector<std::string> held_out;  // paths of corpora
  uint64_t tokens = 0;
  uint64_t documents = 0;

  std::string hash() const;  // hash of all that the tokens were made from
};

// From the cache, or tokenised now by `tokenizer`, that of the folder. Nothing once stopped.
std::optional<Corpora> open_corpora(const CorpusSettings& settings, const std::string& tokenizer_folder,
                                    const Tokenizer& tokenizer, const Parallel& parallel, const RunHooks& hooks);

// What each corpus is called, without its folder, and how much it holds.
Details details_of(const CorpusSettings& settings, const Corpora& corpora);

}  // namespace deberta::train
