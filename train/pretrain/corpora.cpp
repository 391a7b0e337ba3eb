// Opens or builds the token cache of each corpus.
#include "train/pretrain/corpora.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/refuse_argument.h"
#include "base/sha256.h"
#include "train/data/token_cache.h"

namespace deberta::train {
namespace {

// "a/b/" -> "b"
std::string last_name(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path;
  const size_t begin = path.rfind('/', end) + 1;  // 0 where there is none
  return path.substr(begin, end + 1 - begin);
}

}  // namespace

std::string Corpora::hash() const {
  Sha256 hash;
  for (const TokenFile& file : files) hash.update(std::as_bytes(std::span(file.key())));
  return hash.finish();
}

std::optional<Corpora> open_corpora(const CorpusSettings& settings, const std::string& tokenizer_folder,
                                    const Tokenizer& tokenizer, const Parallel& parallel, const RunHooks& hooks) {
  const CacheHooks cache_hooks{
      .on_progress =
          [&](const CacheProgress& progress) {
            const auto total = static_cast<double>(std::max<uint64_t>(1, progress.total_bytes));
            hooks.on_progress({Phase::kReading, progress.done_bytes, progress.tokens,
                               std::min(1.0, static_cast<double>(progress.done_bytes) / total)});
          },
      .is_stopped = [&] { return hooks.stop() == StopRequest::kStop; }};
  CorpusOptions options = settings.options;
  options.documents = options.holds_out_every > 0 ? Documents::kTraining : Documents::kAll;
  const std::string tokenizer_hash = hash_of_tokenizer(tokenizer_folder, tokenizer);
  Corpora corpora;
  for (const CorpusPaths& corpus : settings.corpora) {
    std::optional<TokenFile> file = open_token_cache({.files = find_corpus_files(corpus.paths),
                                                      .options = options,
                                                      .tokenizer_hash = tokenizer_hash,
                                                      .cache_folder = settings.cache_folder},
                                                     tokenizer, parallel, cache_hooks);
    if (!file) return std::nullopt;
    corpora.tokens += file->tokens();
    corpora.documents += file->documents();
    corpora.files.push_back(std::move(*file));
    corpora.held_out.insert(corpora.held_out.end(), corpus.paths.begin(), corpus.paths.end());
  }
  if (corpora.files.empty()) refuse_argument("input", "expected text files, folders or patterns, got none");
  return corpora;
}

Details details_of(const CorpusSettings& settings, const Corpora& corpora) {
  Details details;
  for (size_t i = 0; i < corpora.files.size(); ++i) {
    std::string names;
    for (const std::string& path : settings.corpora[i].paths) names += (names.empty() ? "" : ", ") + last_name(path);
    details.emplace_back("corpus " + names, std::to_string(corpora.files[i].tokens()) + " tokens of " +
                                                std::to_string(corpora.files[i].documents()) + " documents");
  }
  return details;
}

}  // namespace deberta::train
