// Hashes all that the tokens depend on, and builds the file under a lock unless a valid one is there.
#include "train/data/token_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

// A change in how lines become tokens needs another number here.
constexpr int kTokenisation = 1;
constexpr size_t kBatchBytes = size_t{1} << 20;  // bytes of text that are tokenised together
constexpr size_t kHashedBytes = size_t{1} << 20;
constexpr std::string_view kTokenizerFiles[] = {"spm.model",
                                                "spiece.model",
                                                "vocab.json",
                                                "merges.txt",
                                                "bpe_encoder.bin",
                                                "vocab.txt",
                                                "tokenizer.json",
                                                "tokenizer_config.json",
                                                "added_tokens.json",
                                                "special_tokens_map.json",
                                                "sentence_bert_config.json"};

struct Stopped {};  // thrown through write_output_file, which then leaves nothing behind

void poll(const CacheHooks& hooks) {
  if (hooks.is_stopped && hooks.is_stopped()) throw Stopped{};
}

void add_line(Sha256& hash, std::string_view text) {
  hash.update(to_bytes(text));
  hash.update(to_bytes("\n"));
}

// Hashes the bytes as they are stored.
std::string hash_of_file(const MappedFile& file, CacheProgress& progress, const CacheHooks& hooks) {
  Sha256 hash;
  for (Bytes left = file.bytes(); !left.empty();) {
    poll(hooks);
    const Bytes part = left.first(std::min(left.size(), kHashedBytes));
    hash.update(part);
    release_pages(part);
    left = left.subspan(part.size());
    progress.done_bytes += part.size();
    if (hooks.on_progress) hooks.on_progress(progress);
  }
  return hash.finish();
}

std::string name_in(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

uint64_t stored_bytes(const std::vector<std::string>& files) {
  uint64_t total = 0;
  for (const std::string& path : files) total += MappedFile(path).bytes().size();
  return total;
}

// SHA-256 of everything that the tokens depend on.
std::string key_of(const CachedCorpus& corpus, uint64_t total_bytes, const CacheHooks& hooks) {
  Sha256 hash;
  add_line(hash, fmt::format("tokenisation {}", kTokenisation));
  add_line(hash, corpus.tokenizer_hash);
  const CorpusOptions& options = corpus.options;
  add_line(hash, fmt::format("{} {} {}", options.drops_markers, options.holds_out_every,
                             static_cast<int>(options.documents)));
  CacheProgress progress{.total_bytes = total_bytes};
  for (const std::string& path : corpus.files) {
    const MappedFile file(path);
    add_line(hash, fmt::format("{} {} {}", name_in(path), file.bytes().size(), hash_of_file(file, progress, hooks)));
  }
  return hash.finish();
}

TokenKey front_of(const std::string& hexadecimal) {
  TokenKey key{};
  for (size_t i = 0; i < key.size(); ++i) {
    uint8_t value = 0;
    std::from_chars(hexadecimal.data() + 2 * i, hexadecimal.data() + 2 * i + 2, value, 16);
    key[i] = std::byte{value};
  }
  return key;
}

// One builder at a time in a cache folder. Released when the object, or the process, is gone. A file system without
// locks has none: two builders then write the same file, and each puts it there whole.
class FolderLock {
 public:
  FolderLock(const std::string& folder, const CacheHooks& hooks)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_.get() < 0)
      throw Error(ErrorCode::kFileWrite, folder, fmt::format("cannot open the folder: {}", system_message()));
    while (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
      poll(hooks);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

 private:
  Descriptor fd_;
};

// Nothing when there is no such file, or when it cannot be used, which is reported.
std::optional<TokenFile> open_cached(const std::string& path, const TokenKey& key, size_t vocabulary,
                                     const CacheHooks& hooks) {
  if (!is_regular_file(path)) return std::nullopt;
  try {
    TokenFile file(path, vocabulary, hooks.is_stopped);
    poll(hooks);
    if (file.key() == key) return file;
    warn(fmt::format(
        "{}: the cached tokens were made from other texts or by another tokenizer; the cache is built again", path));
  } catch (const Error& error) {
    warn(fmt::format("{}; the cache is built again", error.what()));
  }
  return std::nullopt;
}

// Found in texts, unlike a special token.
bool is_ordinary_token(const Tokenizer& tokenizer, int32_t id) {
  return tokenizer.is_added(id) && !tokenizer.is_special(id);
}

// Reads lines up to kBatchBytes of text and tokenises them together; they are written in their order.
class Builder {
 public:
  Builder(const CachedCorpus& corpus, const Tokenizer& tokenizer, Parallel parallel, const CacheHooks& hooks,
          uint64_t total_bytes)
      : reader_(corpus.files, corpus.options, hooks.is_stopped),
        tokenizer_(tokenizer),
        parallel_(parallel),
        hooks_(hooks),
        total_bytes_(total_bytes),
        line_break_(tokenizer.id_of("\n")) {
    if (line_break_ && !is_ordinary_token(tokenizer, *line_break_)) line_break_.reset();
  }

  void fill(TokenFileWriter& out) {
    while (read_batch()) {
      ids_.resize(lines_.size());
      parallel_for(parallel_, lines_.size(),
                   [&](size_t line, size_t) { ids_[line] = tokenizer_.encode(lines_[line].text, options()).ids; });
      for (size_t line = 0; line < lines_.size(); ++line) {
        if (lines_[line].begins_document) out.begin_document();
        if (line_break_) ids_[line].push_back(*line_break_);
        out.add(ids_[line]);
      }
      poll(hooks_);
      if (hooks_.on_progress) hooks_.on_progress({true, reader_.stored_bytes(), total_bytes_, out.tokens()});
    }
    poll(hooks_);  // a reader that was stopped is at its end
    if (reader_.repaired_lines() > 0)
      warn(fmt::format("{} lines were not valid UTF-8; U+FFFD replaces their invalid bytes", reader_.repaired_lines()));
  }

 private:
  static EncodeOptions options() {
    constexpr size_t kGrowth = 3;  // U+FFFD for a byte
    return {.add_special_tokens = false,
            .parse_special = false,
            .parse_added = true,
            .max_text_bytes = kGrowth * LineReader::kMaxLineBytes};
  }

  bool read_batch() {
    lines_.clear();
    CorpusReader::Line line;
    for (size_t bytes = 0; bytes < kBatchBytes && reader_.next(line); bytes += lines_.back().text.size())
      lines_.push_back(std::move(line));
    return !lines_.empty();
  }

  CorpusReader reader_;
  const Tokenizer& tokenizer_;
  Parallel parallel_;
  const CacheHooks& hooks_;
  uint64_t total_bytes_;
  std::optional<int32_t> line_break_;  // set when the tokenizer has a token for it: each line ends with it
  std::vector<CorpusReader::Line> lines_;
  std::vector<std::vector<int32_t>> ids_;
};

[[noreturn]] void refuse_empty(const CachedCorpus& corpus) {
  const bool is_held = corpus.options.documents == Documents::kHeldOut;
  throw Error(ErrorCode::kInput, corpus.files.empty() ? "corpus" : corpus.files.front(),
              fmt::format("the corpus is empty: expected text in {} {}, got none", corpus.files.size(),
                          is_held ? "files after holding out the other documents" : "files"));
}

TokenFile find_or_build(const CachedCorpus& corpus, const Tokenizer& tokenizer, Parallel parallel,
                        const CacheHooks& hooks) {
  const uint64_t total_bytes = stored_bytes(corpus.files);
  const std::string hash = key_of(corpus, total_bytes, hooks);
  const TokenKey key = front_of(hash);
  std::error_code problem;
  std::filesystem::create_directory(corpus.cache_folder, problem);
  const FolderLock lock(corpus.cache_folder, hooks);
  const std::string path = fmt::format("{}/tokens-{}.dbt", corpus.cache_folder, hash.substr(0, 16));
  if (std::optional<TokenFile> cached = open_cached(path, key, tokenizer.size(), hooks)) return std::move(*cached);
  write_output_file(path, [&](FileWriter& out) {
    TokenFileWriter writer(out, tokenizer.size(), path);
    Builder(corpus, tokenizer, parallel, hooks, total_bytes).fill(writer);
    if (writer.tokens() == 0) refuse_empty(corpus);
    writer.finish(key);
  });
  return TokenFile(path, tokenizer.size(), hooks.is_stopped);
}

}  // namespace

std::string hash_of_tokenizer(const std::string& folder, const Tokenizer& tokenizer) {
  Sha256 hash;
  for (const std::string_view name : kTokenizerFiles) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (is_regular_file(path)) add_line(hash, fmt::format("{} {}", name, sha256_of(MappedFile(path).bytes())));
  }
  const SpecialIds& special = tokenizer.special();
  add_line(hash, fmt::format("{} {} {} {} {} {}", tokenizer.size(), special.pad, special.cls, special.sep, special.unk,
                             special.mask));
  for (size_t id = 0; id < tokenizer.size(); ++id) {
    if (is_ordinary_token(tokenizer, static_cast<int32_t>(id)))
      add_line(hash, fmt::format("{} {}", id, tokenizer.piece(static_cast<int32_t>(id))));
  }
  return hash.finish();
}

std::optional<TokenFile> open_token_cache(const CachedCorpus& corpus, const Tokenizer& tokenizer, Parallel parallel,
                                          const CacheHooks& hooks) {
  if (corpus.files.empty()) refuse_empty(corpus);
  try {
    return find_or_build(corpus, tokenizer, parallel, hooks);
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

}  // namespace deberta::train
