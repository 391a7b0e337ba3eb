// Dropout as a pure function of logical indices (model-training.md#dropout): the same on every device, forward =
// backward, packed = padded. One Philox call gives 16 bytes, one byte per element.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "base/philox.h"

namespace deberta {

struct Dropout {
  double p = 0;  // 0: off
  uint64_t seed = 0;
  uint32_t step = 0;             // below 2^24
  uint32_t layer = 0;            // below 255; counts from 0
  uint32_t sequence_offset = 0;  // number of this call's first sequence in the whole batch, all micro-batches and ranks

  // Elements whose byte is below this are dropped: round(256 p).
  uint32_t threshold() const { return static_cast<uint32_t>(std::lround(256 * p)); }
  // What kept elements are multiplied by: the inverse of the share that threshold() keeps.
  double scale() const { return 256.0 / (256.0 - threshold()); }
};

// Query i, keys 16 * block .. 16 * block + 15.
inline PhiloxCounter dropout_counter(const Dropout& d, uint32_t sequence, uint32_t heads, uint32_t head, uint32_t i,
                                     uint32_t block) {
  return {i, block, (d.sequence_offset + sequence) * heads + head, d.layer | d.step << 8};
}
inline PhiloxKey dropout_key(const Dropout& d) {
  return {static_cast<uint32_t>(d.seed), static_cast<uint32_t>(d.seed >> 32)};
}

// The bytes of query i and keys 16 * block .. 16 * block + 15 of one head.
inline std::array<uint8_t, 16> dropout_bytes(const Dropout& d, uint32_t sequence, uint32_t heads, uint32_t head,
                                             uint32_t i, uint32_t block) {
  const PhiloxCounter words = philox(dropout_counter(d, sequence, heads, head, i, block), dropout_key(d));
  std::array<uint8_t, 16> bytes{};
  for (size_t b = 0; b < bytes.size(); ++b) bytes[b] = static_cast<uint8_t>(words[b / 4] >> (8 * (b % 4)));
  return bytes;
}

}  // namespace deberta
