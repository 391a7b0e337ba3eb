// The lines of documents that a training run holds out, as rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rows/row.h"

namespace deberta {

// `corpora`: each a file, a folder or a pattern (data/corpus.h), with documents counted from 1. The last of every
// `every` documents is read, without the lines that mark documents.
struct HeldOutLines {
  std::vector<std::string> corpora;
  uint64_t every = 0;
  size_t most_lines = 0;  // per corpus; 0: all
};

// Throws kUsage for `every` below 2, and what find_corpus_files throws. `lines` must outlive the source.
std::unique_ptr<RowSource> held_out_rows(const HeldOutLines& lines, std::function<bool()> is_stopped);

}  // namespace deberta
