// Copies a run out of the token file, with the separators or borders between documents that were asked for.
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
    const uint64_t end = file_->document_start(document + 1) + document;  // after its tokens; a separator follows
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

void cut_sequences(size_t most_pieces, size_t first, std::vector<int32_t>& ids, std::vector<int32_t>& starts) {
  const std::vector<int32_t> whole(ids.begin() + starts[first], ids.end());
  std::vector<size_t> ends;  // offsets in `whole`
  for (size_t i = first + 1; i < starts.size(); ++i) ends.push_back(static_cast<size_t>(starts[i] - starts[first]));
  ids.resize(static_cast<size_t>(starts[first]));
  starts.resize(first + 1);
  size_t begin = 0;
  for (const size_t end : ends) {
    const size_t pieces = end - begin - 2;
    const size_t parts = std::max<size_t>(1, (pieces + most_pieces - 1) / most_pieces);
    for (size_t part = 0; part < parts; ++part) {
      const auto at = [&](size_t n) { return whole.begin() + static_cast<ptrdiff_t>(begin + 1 + n * pieces / parts); };
      ids.push_back(whole[begin]);
      ids.insert(ids.end(), at(part), at(part + 1));
      ids.push_back(whole[end - 1]);
      starts.push_back(static_cast<int32_t>(ids.size()));
    }
    begin = end;
  }
}

}  // namespace deberta::train
