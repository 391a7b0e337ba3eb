// A corpus is tokenised once: its tokens are kept in a folder, under a name made of everything that they depend on.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "data/corpus.h"
#include "deberta/tokenizer.h"
#include "train/data/token_file.h"

namespace deberta::train {

struct CacheProgress {
  bool is_tokenizing = false;  // else the files are being hashed
  uint64_t done_bytes = 0;     // bytes of the files as they are stored
  uint64_t total_bytes = 0;
  uint64_t tokens = 0;
};

// Called while a cache is looked for and built; polled and informed at least for each MiB of text.
struct CacheHooks {
  std::function<void(const CacheProgress&)> on_progress = {};
  std::function<bool()> is_stopped = {};
};

struct CachedCorpus {
  std::vector<std::string> files;  // find_corpus_files
  CorpusOptions options;
  std::string tokenizer_hash;  // hash_of_tokenizer
  std::string cache_folder;    // created if its parent is there
};

// SHA-256 of the tokenizer's files in a model folder, and of what was loaded from them.
std::string hash_of_tokenizer(const std::string& folder, const Tokenizer& tokenizer);

// The tokens of the corpus, line by line, without special tokens; those written in a text are text. Where the tokenizer
// has an added token for a line break, each line ends with it. Built if there are
// none yet, and again, with a warning, if they are damaged or another's. Who comes second while it is being built
// waits. The result does not depend on `parallel`; memory does not grow with the corpus. Nothing when stopped: no file
// is left then, nor after an error. Throws kInput for a corpus without tokens, kFileWrite (also for a full disk), and
// what CorpusReader and Tokenizer::encode throw.
std::optional<TokenFile> open_token_cache(const CachedCorpus& corpus, const Tokenizer& tokenizer, Parallel parallel,
                                          const CacheHooks& hooks = {});

}  // namespace deberta::train
