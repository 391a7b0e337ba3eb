// Byte-pair encoding (Sennrich et al. 2016): which neighbours merge into which piece, and the merging of one word.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deberta {

// Two pieces and the piece that they make together.
struct BpeMerge {
  int32_t left = 0;
  int32_t right = 0;
  int32_t result = 0;
};

class BpeMerges {
 public:
  BpeMerges() = default;
  // By rank, the first merge comes first; ids are 0 .. ids - 1, and no two have the same left and right
  // (bpe_model.cpp checks it).
  BpeMerges(std::vector<BpeMerge> merges, size_t ids);

  static constexpr uint32_t kNone = UINT32_MAX;
  // kNone if the two are not merged; they never are if an id is negative.
  uint32_t rank_of(int32_t left, int32_t right) const;
  const BpeMerge& at(uint32_t rank) const { return merges_[rank]; }

 private:
  struct Row {
    int32_t right;
    uint32_t rank;
  };
  std::vector<BpeMerge> merges_;
  std::vector<uint32_t> begins_;  // by left id: its rows, sorted by right
  std::vector<Row> rows_;
};

// A word on its way from bytes to pieces. Reused from word to word to keep its memory.
class BpeWord {
 public:
  struct Symbol {
    int32_t id = 0;
    uint32_t begin = 0;  // bytes of the word
    uint32_t end = 0;
    uint32_t previous = 0;
    uint32_t next = 0;
  };

  explicit BpeWord(const BpeMerges& merges) : merges_(merges) {}

  void clear() { symbols_.clear(); }
  // The next byte, with its piece's id or a negative one.
  void add_byte(int32_t id);
  // Round by round all pairs of the lowest rank, from the left, as the reference does; O(n log n).
  void melt();
  // After melt(): calls visit(symbol) for each that is left, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (uint32_t at = symbols_.empty() ? kEnd : 0; at != kEnd; at = symbols_[at].next) visit(symbols_[at]);
  }

 private:
  static constexpr uint32_t kEnd = UINT32_MAX;
  static constexpr int32_t kGone = INT32_MIN;
  void add_pair(uint32_t at);
  void take_lowest();
  void join(uint32_t at, const BpeMerge& merge);

  const BpeMerges& merges_;
  std::vector<Symbol> symbols_;
  std::vector<uint64_t> queue_;  // a heap: rank, then position of the left symbol
  std::vector<uint64_t> round_;  // the entries of one rank
};

}  // namespace deberta
