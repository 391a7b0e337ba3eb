// A linked list of symbols and a queue of candidate pairs by rank; each round merges all pairs of the lowest rank.
#include "text/bpe/bpe_merges.h"

#include <algorithm>
#include <functional>

namespace deberta {

BpeMerges::BpeMerges(std::vector<BpeMerge> merges, size_t ids)
    : merges_(std::move(merges)), begins_(ids + 1, 0), rows_(merges_.size()) {
  for (const BpeMerge& merge : merges_) ++begins_[static_cast<size_t>(merge.left) + 1];
  for (size_t id = 0; id < ids; ++id) begins_[id + 1] += begins_[id];
  std::vector<uint32_t> next = begins_;
  for (size_t rank = 0; rank < merges_.size(); ++rank) {
    rows_[next[static_cast<size_t>(merges_[rank].left)]++] = {merges_[rank].right, static_cast<uint32_t>(rank)};
  }
  const auto by_right = [](const Row& a, const Row& b) { return a.right < b.right; };
  for (size_t id = 0; id < ids; ++id) std::sort(rows_.begin() + begins_[id], rows_.begin() + begins_[id + 1], by_right);
}

uint32_t BpeMerges::rank_of(int32_t left, int32_t right) const {
  if (left < 0 || right < 0 || static_cast<size_t>(left) + 1 >= begins_.size()) return kNone;
  const auto begin = rows_.begin() + begins_[static_cast<size_t>(left)];
  const auto end = rows_.begin() + begins_[static_cast<size_t>(left) + 1];
  const auto merge =
      std::lower_bound(begin, end, right, [](const Row& row, int32_t wanted) { return row.right < wanted; });
  return merge != end && merge->right == right ? merge->rank : kNone;
}

void BpeWord::add_byte(int32_t id) {
  const auto at = static_cast<uint32_t>(symbols_.size());
  if (at > 0) symbols_.back().next = at;
  symbols_.push_back({id, at, at + 1, at > 0 ? at - 1 : kEnd, kEnd});
}

void BpeWord::add_pair(uint32_t at) {
  const Symbol& left = symbols_[at];
  if (left.next == kEnd) return;
  const uint32_t rank = merges_.rank_of(left.id, symbols_[left.next].id);
  if (rank == BpeMerges::kNone) return;
  queue_.push_back(uint64_t{rank} << 32 | at);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

// All entries of the lowest rank, from the left. They leave the queue before any of them merges: a pair that this makes
// must wait for the next round even if its rank is lower.
void BpeWord::take_lowest() {
  const uint64_t rank = queue_.front() >> 32;
  round_.clear();
  while (!queue_.empty() && queue_.front() >> 32 == rank) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    round_.push_back(queue_.back());
    queue_.pop_back();
  }
}

void BpeWord::join(uint32_t at, const BpeMerge& merge) {
  Symbol& left = symbols_[at];
  Symbol& right = symbols_[left.next];
  left.id = merge.result;
  left.end = right.end;
  left.next = right.next;
  right.id = kGone;
  if (left.next != kEnd) symbols_[left.next].previous = at;
  if (left.previous != kEnd) add_pair(left.previous);
  add_pair(at);
}

void BpeWord::melt() {
  queue_.clear();
  for (uint32_t at = 0; at < symbols_.size(); ++at) add_pair(at);
  while (!queue_.empty()) {
    take_lowest();
    const BpeMerge& merge = merges_.at(static_cast<uint32_t>(round_.front() >> 32));
    for (const uint64_t entry : round_) {
      const auto at = static_cast<uint32_t>(entry);
      const Symbol& left = symbols_[at];
      // An entry is stale when one of its symbols has since merged with another neighbour.
      if (left.id != merge.left || left.next == kEnd || symbols_[left.next].id != merge.right) continue;
      join(at, merge);
    }
  }
}

}  // namespace deberta
