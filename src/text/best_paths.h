// The best path to each position of a text, for the Viterbi search over pieces (unigram.h, word_unigram.h).
//
// Memory: a path's end needs its last step only (4 bytes: piece id and length); running scores are needed only as far
// back as a piece reaches, so they live in a ring that stays in L1.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/spm/spm_model.h"
#include "text/step.h"

namespace deberta {

static_assert(kMaxPieces <= size_t{1} << kStepIdBits && kMaxPieceBytes < size_t{1} << (32 - kStepIdBits));

template <class Score>
class BestPaths {
 public:
  // `steps`, those into each position, has size_bytes + 1 zeros; `score` is that of the text before.
  BestPaths(uint32_t* steps, uint32_t size_bytes, Score score = 0) : steps_(steps), size_bytes_(size_bytes) {
    ring_[0] = score;
  }

  Score score_at(uint32_t position) const { return ring_[position % kRing]; }
  // A later path wins only when strictly better. The comparison is made in the type of `score`.
  template <class Candidate>
  void offer(uint32_t from, uint32_t size_bytes, uint32_t id, Candidate score) {
    const uint32_t to = from + size_bytes;
    if (steps_[to] != 0 && !(score > ring_[to % kRing])) return;
    steps_[to] = size_bytes << kStepIdBits | id;
    ring_[to % kRing] = static_cast<Score>(score);
  }
  // Subtracts an offset from the path to `position` and from all paths that end after it.
  void take_off(Score offset, uint32_t position) {
    ring_[position % kRing] -= offset;
    const uint32_t end = std::min(size_bytes_, position + static_cast<uint32_t>(kMaxPieceBytes));
    for (uint32_t i = position + 1; i <= end; ++i) {
      if (steps_[i] != 0) ring_[i % kRing] -= offset;
    }
  }

 private:
  static constexpr uint32_t kRing = 2048;  // a power of two above the longest piece
  static_assert(kRing > kMaxPieceBytes);

  uint32_t* steps_;
  uint32_t size_bytes_;
  Score ring_[kRing];  // written before it is read
};

// Calls visit(id, begin, end) for each step of the best path to the end of a text, in order. Overwrites `steps`.
template <class Visit>
void for_each_step(std::vector<uint32_t>& steps, Visit visit) {
  // Backwards: the steps of the path are gathered at the end of the vector, in order.
  size_t first = steps.size();
  for (auto end = static_cast<uint32_t>(steps.size() - 1); end > 0;) {
    const uint32_t step = steps[end];
    steps[--first] = step;
    end -= step >> kStepIdBits;
  }
  uint32_t begin = 0;
  for (; first < steps.size(); ++first) {
    const uint32_t end = begin + (steps[first] >> kStepIdBits);
    visit(static_cast<int32_t>(steps[first] & kStepIdMask), begin, end);
    begin = end;
  }
}

// Bytes of the character at `position` of valid UTF-8.
inline uint32_t character_size(std::string_view text, uint32_t position) {
  const auto lead = static_cast<uint8_t>(text[position]);
  const uint32_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(size, static_cast<uint32_t>(text.size()) - position);
}

}  // namespace deberta
