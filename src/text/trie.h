// A set of strings with a number each, as a double array: child = base ^ byte, one 8-byte unit per node. Immutable.
// Used for the pieces, the user-defined symbols and the added tokens.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace deberta {

struct TrieEntry {
  std::string_view key;  // not empty
  uint32_t value = 0;    // at most kMaxTrieValue
};
constexpr uint32_t kMaxTrieValue = (uint32_t{1} << 22) - 1;

class Trie {
 public:
  // No keys: nothing matches.
  Trie();
  // Keys in any order; of equal keys the first counts.
  explicit Trie(const std::vector<TrieEntry>& entries);

  bool is_empty() const { return root_base() == 0; }

  // Calls visit(size_bytes, value) for each key that text.substr(from) starts with, the shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, size_t from, Visit visit) const {
    const Node* nodes = nodes_.data();
    uint32_t base = root_base();
    for (size_t to = from; to < text.size();) {
      const auto byte = static_cast<uint8_t>(text[to]);
      const Node node = nodes[base ^ byte];
      if ((node.tag & kNoLabel) != byte) return;
      ++to;
      base = node.base;
      if (node.tag >> kLabelBits != 0) visit(to - from, (node.tag >> kLabelBits) - 1);
    }
  }

  struct Match {
    size_t size_bytes = 0;  // 0: none
    uint32_t value = 0;
  };
  // The longest key that `text` starts with.
  Match longest_prefix(std::string_view text) const {
    Match best;
    for_each_prefix(text, 0, [&](size_t size_bytes, uint32_t value) { best = {size_bytes, value}; });
    return best;
  }

 private:
  friend class TrieBuilder;
  // From root_base(), the child by byte c is nodes_[base ^ c] when its label is c.
  struct Node {
    uint32_t base = 0;
    uint32_t tag = 0;  // bits 0..8: the byte that leads here (kNoLabel: no node); above: value + 1, or 0
  };
  static constexpr uint32_t kNoLabel = 0x1FF;
  static constexpr uint32_t kLabelBits = 9;

  uint32_t root_base() const { return nodes_[0].base; }

  std::vector<Node> nodes_;
};

}  // namespace deberta
