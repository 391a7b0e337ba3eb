#include "train/data/runs.h"

#include <algorithm>

namespace deberta::train {

uint64_t Runs::pieces() const {
  const bool separates = boundary_ == DocumentBoundary::kSeparator && file_->documents() > 0;
  return file_->tokens() + (separates ? file_->documents() - 1 : 0);
}

void Runs::append_pieces(uint64_t first, size_t count, std::vector<int32_t>& ids) const {
  const size_t before = ids.size();
  ids.resize(before + count);
  file_->read(first, std::span(ids).subspan(before));
}

// Document d begins at its first token + d: d separators stand before it.
void Runs::append_separated(uint64_t first, size_t count, std::vector<int32_t>& ids) const {
  uint64_t document = 0;
  for (uint64_t left = file_->documents(); left > 1;) {
    const uint64_t half = left / 2;
    if (separated_start(document + half) <= first) document += half;
    left -= half;
  }
  while (count > 0) {
    const uint64_t end = file_->document_start(document + 1) + document;  // of its tokens; a separator follows
    const auto part = static_cast<size_t>(std::min<uint64_t>(count, end - first));
    append_pieces(first - document, part, ids);
    first += part;
    count -= part;
    if (count == 0) return;
    ids.push_back(sep_);
    ++first;
    --count;
    ++document;
  }
}

void Runs::append_blocks(uint64_t first, size_t count, std::vector<int32_t>& ids, std::vector<int32_t>& starts) const {
  for (uint64_t document = file_->document_of(first); count > 0; ++document) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(count, file_->document_start(document + 1) - first));
    ids.push_back(cls_);
    append_pieces(first, part, ids);
    ids.push_back(sep_);
    starts.push_back(static_cast<int32_t>(ids.size()));
    first += part;
    count -= part;
  }
}

void Runs::append(uint64_t run, size_t max_tokens, std::vector<int32_t>& ids, std::vector<int32_t>& starts) const {
  const size_t size = max_tokens - 2;
  const uint64_t first = run * size;
  if (boundary_ == DocumentBoundary::kBlock) return append_blocks(first, size, ids, starts);
  ids.push_back(cls_);
  if (boundary_ == DocumentBoundary::kSeparator) {
    append_separated(first, size, ids);
  } else {
    append_pieces(first, size, ids);
  }
  ids.push_back(sep_);
  starts.push_back(static_cast<int32_t>(ids.size()));
}

}  // namespace deberta::train
