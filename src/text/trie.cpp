// Built breadth first, so that the nodes near the root, which every walk touches, lie together.
#include "text/trie.h"

#include <algorithm>
#include <deque>
#include <string>

#include "text/text_order.h"

namespace deberta {
namespace {

constexpr uint32_t kBlock = 256;
// Each node tries a few holes of the last blocks; more tries cost more time than the memory is worth.
constexpr size_t kMaxTries = 48;
constexpr size_t kMaxHoles = 4096;

}  // namespace

class TrieBuilder {
 public:
  // The keys in order.
  TrieBuilder(std::span<const TrieEntry> entries, std::span<const uint32_t> order) {
    size_t size_bytes = 0;
    for (const TrieEntry& entry : entries) size_bytes += entry.key.size();
    bytes_.reserve(size_bytes);
    keys_.reserve(entries.size());
    for (const uint32_t i : order) {
      keys_.push_back({bytes_.size(), entries[i].key.size(), entries[i].value});
      bytes_ += entries[i].key;
    }
    // Mostly an overestimate; memory that is never touched costs nothing.
    nodes_.reserve(size_bytes + 2 * size_t{kBlock});
    add_block();
  }

  std::vector<Trie::Node> build() {
    // The first block holds the root alone: base 0 then means "no children".
    std::vector<Range> level{{0, keys_.size(), 0}};
    for (size_t depth = 0; !level.empty(); ++depth) {
      std::vector<Range> next;
      for (const Range& range : level) place(range, depth, next);
      level = std::move(next);
    }
    nodes_.shrink_to_fit();
    return std::move(nodes_);
  }

 private:
  struct Key {
    size_t begin, size;  // in bytes_, one after the other: they are read in order, level by level
    uint32_t value;
  };
  struct Range {  // the keys that share the path to `node`
    size_t begin, end;
    uint32_t node;
  };
  struct Child {
    uint8_t label;
    size_t begin, end;
  };

  void place(const Range& range, size_t depth, std::vector<Range>& next) {
    size_t at = range.begin;
    while (at < range.end && keys_[at].size == depth) ++at;  // equal keys: the first counts
    if (at > range.begin) nodes_[range.node].tag |= (keys_[range.begin].value + 1) << Trie::kLabelBits;
    collect_children(at, range.end, depth);
    if (children_.empty()) return;
    const uint32_t base = find_base();
    nodes_[range.node].base = base;
    is_base_[base] = true;
    for (const Child& child : children_) {
      const uint32_t index = base ^ child.label;
      nodes_[index].tag = child.label;
      next.push_back({child.begin, child.end, index});
    }
  }

  void collect_children(size_t begin, size_t end, size_t depth) {
    children_.clear();
    const auto label_of = [&](size_t key) { return static_cast<uint8_t>(bytes_[keys_[key].begin + depth]); };
    for (size_t at = begin; at < end;) {
      const uint8_t label = label_of(at);
      const size_t first = at;
      while (at < end && label_of(at) == label) ++at;
      children_.push_back({label, first, at});
    }
  }

  bool is_free(uint32_t index) const { return (nodes_[index].tag & Trie::kNoLabel) == Trie::kNoLabel; }

  bool fits(uint32_t base) const {
    // Two nodes with the same base would see each other's children.
    if (is_base_[base]) return false;
    return std::all_of(children_.begin(), children_.end(),
                       [&](const Child& child) { return is_free(base ^ child.label); });
  }

  uint32_t find_base() {
    const size_t count = holes_.size();
    for (size_t tries = 0; tries < std::min(count, kMaxTries); ++tries) {
      // A hole that did not fit goes to the back: the next node tries others.
      const uint32_t at = holes_.front();
      holes_.pop_front();
      if (!is_free(at)) continue;
      holes_.push_back(at);
      const uint32_t base = at ^ children_.front().label;
      if (fits(base)) return base;
    }
    const auto fresh = static_cast<uint32_t>(nodes_.size());
    add_block();
    while (holes_.size() > kMaxHoles) holes_.pop_front();
    for (uint32_t at = fresh; at < fresh + kBlock; ++at) holes_.push_back(at);
    return fresh;
  }

  void add_block() {
    nodes_.resize(nodes_.size() + kBlock, {0, Trie::kNoLabel});
    is_base_.resize(nodes_.size(), false);
  }

  std::string bytes_;
  std::vector<Key> keys_;
  std::vector<Trie::Node> nodes_;
  std::vector<bool> is_base_;
  std::vector<Child> children_;
  std::deque<uint32_t> holes_;  // free units to try, and some no longer free
};

Trie::Trie() : Trie(std::vector<TrieEntry>{}) {}

Trie::Trie(const std::vector<TrieEntry>& entries) {
  std::vector<std::string_view> keys;
  keys.reserve(entries.size());
  for (const TrieEntry& entry : entries) keys.push_back(entry.key);
  nodes_ = TrieBuilder(entries, text_order(keys)).build();
}

}  // namespace deberta
