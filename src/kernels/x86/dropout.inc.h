// The mask of dropout.h in vectors: kLanes / 2 calls of Philox at once, one in each lane of 64 bits. A product of
// 32-bit words fills a lane; only the lower halves of operands are read, so what stays above them does not matter.
// Included after vectors_<isa>.inc.h.
#pragma once

namespace deberta {
namespace {

// Bit j % 16 of word j / 16: whether the query at `position` keeps key j. Writes words of keys beyond the last, up to
// kLanes / 2 of them.
inline void keep_bits(const AttentionDropout& d, uint32_t position, size_t keys, uint16_t* bits_by_16) {
  constexpr size_t kCalls = kLanes / 2;
  const Bits first = all_wide(0xD2511F53), second = all_wide(0xCD9E8D57);
  for (size_t block = 0; block * 16 < keys; block += kCalls) {
    Bits c0 = all_wide(position), c1 = wide_from(block), c2 = all_wide(d.last_words[0]), c3 = all_wide(d.last_words[1]);
    uint32_t key0 = d.key[0], key1 = d.key[1];
    for (int round = 0; round < 10; ++round) {
      const Bits a = wide_product(first, c0), b = wide_product(second, c2);
      c0 = exclusive_or(exclusive_or(upper_halves(b), c1), all_wide(key0));
      c1 = b;
      c2 = exclusive_or(exclusive_or(upper_halves(a), c3), all_wide(key1));
      c3 = a;
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    const uint64_t low = bytes_from(d.threshold, join_halves(c0, c1));  // 8 keys of each call
    const uint64_t high = bytes_from(d.threshold, join_halves(c2, c3));
    for (size_t call = 0; call < kCalls; ++call) {
      const uint64_t bits = (low >> (8 * call) & 0xFF) | (high >> (8 * call) & 0xFF) << 8;
      bits_by_16[block + call] = static_cast<uint16_t>(bits);
    }
  }
}

}  // namespace
}  // namespace deberta
