// A corpus as runs of equal length: everything one after the other without separators, cut every max_tokens - 2 pieces
// (model-training.md#masked-words), each run between [CLS] and [SEP].
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/data/token_file.h"

namespace deberta::train {

// Where documents meet. kSeparator: a [SEP] stands between them, and counts as a piece. kBlock: no attention across: a
// run that holds a border becomes several sequences, each with its [CLS] and [SEP], a few tokens more than max_tokens.
enum class DocumentBoundary : uint8_t { kNone, kSeparator, kBlock };

class Runs {
 public:
  // `file` must outlive this object.
  Runs(const TokenFile& file, DocumentBoundary boundary, int32_t cls, int32_t sep)
      : file_(&file), boundary_(boundary), cls_(cls), sep_(sep) {}

  // Pieces, with the separators between documents.
  uint64_t pieces() const;
  // Whole runs. What is left at the end of the corpus, less than a run, is dropped.
  uint64_t count(size_t max_tokens) const { return pieces() / (max_tokens - 2); }

  // Appends the sequences of a run (< count()), and to `starts` the end of each.
  void append(uint64_t run, size_t max_tokens, std::vector<int32_t>& ids, std::vector<int32_t>& starts) const;

 private:
  void append_pieces(uint64_t first, size_t count, std::vector<int32_t>& ids) const;
  void append_separated(uint64_t first, size_t count, std::vector<int32_t>& ids) const;
  void append_blocks(uint64_t first, size_t count, std::vector<int32_t>& ids, std::vector<int32_t>& starts) const;
  uint64_t separated_start(uint64_t document) const { return file_->document_start(document) + document; }

  const TokenFile* file_;
  DocumentBoundary boundary_;
  int32_t cls_;
  int32_t sep_;
};

// Cuts the sequences from `first` on into ones of at most `most_pieces` (> 0) between their [CLS] and [SEP], as equal
// as can be: `ids` and `starts` grow by what stands between them.
void cut_sequences(size_t most_pieces, size_t first, std::vector<int32_t>& ids, std::vector<int32_t>& starts);

}  // namespace deberta::train
