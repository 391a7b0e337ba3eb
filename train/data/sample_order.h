// A shuffle without memory: a permutation of [0, samples) that computes any element directly.
#pragma once
#include <cstdint>

#include "base/philox.h"

namespace deberta::train {

// Balanced Feistel network on the smallest even number of bits that covers the samples; a value outside them goes
// through it again (cycle walking), less than four times on average. Keyed by the seed and by what must not share an
// order: the epoch, and a number for the source of the samples.
class SampleOrder {
 public:
  SampleOrder(uint64_t samples, uint64_t key, uint32_t epoch, uint32_t source = 0)
      : samples_(samples),
        key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)},
        epoch_(epoch),
        source_(source) {
    while (half_bits_ < 32 && (uint64_t{1} << (2 * half_bits_)) < samples) ++half_bits_;
  }

  // The sample at position `index` (< samples).
  uint64_t operator()(uint64_t index) const {
    do {
      index = walk(index);
    } while (index >= samples_);
    return index;
  }

 private:
  uint64_t walk(uint64_t value) const {
    constexpr uint32_t kRounds = 8;
    const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
    uint64_t left = value >> half_bits_;
    uint64_t right = value & mask;
    for (uint32_t round = 0; round < kRounds; ++round) {
      const uint64_t mixed = philox({static_cast<uint32_t>(right), round, epoch_, source_}, key_)[0];
      const uint64_t next = (left ^ mixed) & mask;
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  uint64_t samples_;
  PhiloxKey key_;
  uint32_t epoch_;
  uint32_t source_;
  int half_bits_ = 1;
};

}  // namespace deberta::train
