// A corpus: text files, read line by line, as documents. Knows nothing of tokens.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/lines.h"

namespace deberta {

// Which documents of a corpus are read. Held out: of `holds_out_every` = n documents in a row, the last.
enum class Documents : uint8_t { kAll, kTraining, kHeldOut };

struct CorpusOptions {
  // Lines `<|doc NAME|>` begin a document and are dropped, as is `Section::::` before a line. Otherwise both are text.
  bool drops_markers = false;
  uint64_t holds_out_every = 0;  // 0: no document is held out
  Documents documents = Documents::kAll;
};

// The files that paths name: a file, a folder (its .txt, .txt.xz, .txt.gz, .txt.zst and .txt.bz2, sorted), or a pattern
// with * ? [] (sorted). Throws kFileNotFound for a path that names none.
std::vector<std::string> find_corpus_files(const std::vector<std::string>& paths);

// Lines of all files, one after the other, without blank ones. A document begins with each file and with each marker;
// one without a line does not count. Memory is bounded by the longest line.
class CorpusReader {
 public:
  struct Line {
    std::string text;              // valid UTF-8: U+FFFD for each ill-formed part
    bool begins_document = false;  // the first line of its document
  };

  // `is_stopped` is polled before each wait for bytes. Throws kUsage for a `holds_out_every` that leaves none of the
  // requested documents.
  CorpusReader(std::vector<std::string> files, CorpusOptions options, std::function<bool()> is_stopped = {});

  // False at the end and once stopped. Throws what ByteSource does (kFileNotFound, kFileRead for a damaged stream,
  // kInput for what is not text), and kTooLarge for a line above LineReader::kMaxLineBytes.
  bool next(Line& line);

  uint64_t stored_bytes() const { return finished_bytes_ + (lines_ ? lines_->source().read_bytes() : 0); }
  uint64_t repaired_lines() const { return repaired_ + (lines_ ? lines_->repaired() : 0); }

 private:
  bool next_text(TextLine& line);
  bool is_read() const;

  std::vector<std::string> files_;
  CorpusOptions options_;
  std::function<bool()> is_stopped_;
  std::optional<LineReader> lines_;  // lines of the file being read
  size_t next_file_ = 0;
  uint64_t finished_bytes_ = 0;
  uint64_t repaired_ = 0;
  uint64_t documents_ = 0;   // begun so far
  bool is_at_begin_ = true;  // the next line begins a document
};

}  // namespace deberta
