// Built breadth first, so that the nodes near the root, which every walk touches, lie together.
#include "text/trie.h"

#include <algorithm>
#include <array>

namespace deberta {
namespace {

constexpr uint32_t kBlock = 256;
// Holes are looked for in the last blocks only: older ones are nearly full and cost time.
constexpr uint32_t kOpenBlocks = 16;

class Builder {
 public:
  explicit Builder(std::span<const TrieEntry> sorted) : keys_(sorted) { add_block(); }

  std::vector<Trie::Node> build() {
    // The first block holds the root alone: base 0 then means "no children".
    first_open_ = kBlock;
    std::vector<Range> queue{{0, keys_.size(), 0, 0}};
    for (size_t head = 0; head < queue.size(); ++head) place(queue[head], queue);
    return std::move(nodes_);
  }

 private:
  struct Range {  // the keys that share the path to `node`
    size_t begin, end;
    uint32_t depth, node;
  };
  struct Child {
    uint8_t label;
    size_t begin, end;
  };

  void place(const Range& range, std::vector<Range>& queue) {
    size_t at = range.begin;
    while (at < range.end && keys_[at].key.size() == range.depth) ++at;  // equal keys: the first counts
    if (at > range.begin) nodes_[range.node].tag |= (keys_[range.begin].value + 1) << Trie::kLabelBits;
    collect_children(at, range.end, range.depth);
    if (children_.empty()) return;
    const uint32_t base = find_base();
    nodes_[range.node].base = base;
    is_base_[base] = true;
    for (const Child& child : children_) {
      const uint32_t index = base ^ child.label;
      nodes_[index].tag = child.label;
      queue.push_back({child.begin, child.end, range.depth + 1, index});
    }
  }

  void collect_children(size_t begin, size_t end, uint32_t depth) {
    children_.clear();
    for (size_t at = begin; at < end;) {
      const char label = keys_[at].key[depth];
      const size_t first = at;
      while (at < end && keys_[at].key[depth] == label) ++at;
      children_.push_back({static_cast<uint8_t>(label), first, at});
    }
  }

  bool is_free(uint32_t index) const { return (nodes_[index].tag & Trie::kNoLabel) == Trie::kNoLabel; }

  bool fits(uint32_t base) const {
    // Two nodes with one base would see each other's children.
    if (is_base_[base]) return false;
    return std::all_of(children_.begin(), children_.end(), [&](const Child& child) { return is_free(base ^ child.label); });
  }

  uint32_t find_base() {
    while (first_open_ < nodes_.size() && !is_free(first_open_)) ++first_open_;
    for (uint32_t at = first_open_; at < nodes_.size(); ++at) {
      if (!is_free(at)) continue;
      const uint32_t base = at ^ children_.front().label;
      if (fits(base)) return base;
    }
    const auto fresh = static_cast<uint32_t>(nodes_.size());
    add_block();
    if (nodes_.size() > size_t{kOpenBlocks} * kBlock) {
      first_open_ = std::max(first_open_, static_cast<uint32_t>(nodes_.size()) - kOpenBlocks * kBlock);
    }
    return fresh;
  }

  void add_block() {
    nodes_.resize(nodes_.size() + kBlock, {0, Trie::kNoLabel});
    is_base_.resize(nodes_.size(), false);
  }

  std::span<const TrieEntry> keys_;
  std::vector<Trie::Node> nodes_;
  std::vector<bool> is_base_;
  std::vector<Child> children_;
  uint32_t first_open_ = 0;
};

}  // namespace

Trie::Trie() : Trie(std::vector<TrieEntry>{}) {}

Trie::Trie(std::vector<TrieEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const TrieEntry& a, const TrieEntry& b) { return a.key < b.key; });
  nodes_ = Builder(entries).build();
}

Trie::Match Trie::longest_prefix(std::string_view text) const {
  Match best;
  uint32_t base = root_base();
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const Node node = nodes_[base ^ byte];
    if ((node.tag & kNoLabel) != byte) break;
    if (node.tag >> kLabelBits != 0) best = {i + 1, (node.tag >> kLabelBits) - 1};
    base = node.base;
  }
  return best;
}

}  // namespace deberta
